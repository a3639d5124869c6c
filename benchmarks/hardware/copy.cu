// A multicast copy as a kernel asks DeepGEMM for one, to see which instruction a card gets.
#include <deep_gemm/common/tma_copy.cuh>

__global__ void multicast(const __grid_constant__ cute::TmaDescriptor map) {
  extern __shared__ __align__(1024) uint8_t shared[];
  auto barrier = reinterpret_cast<cutlass::arch::ClusterTransactionBarrier*>(shared);
  deep_gemm::tma::copy<64, 128, 128>(&map, barrier,
                                     reinterpret_cast<cutlass::bfloat16_t*>(shared + 1024), 0, 0,
                                     2);
}
