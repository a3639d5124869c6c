// A launcher for DeepGEMM's bfloat16 GEMM of SM90, built from the headers of the wheel alone.
// D[m, n] = A[m, k] * B[n, k]^T, row-major; MULTICAST_ON_A says which operand a cluster shares.
#include <cuda.h>
#include <cuda_runtime.h>

#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

using namespace deep_gemm;

namespace {

constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 64, kSwizzle = 128, kStages = 5;
constexpr int kTMAThreads = 128, kMathThreads = 256, kMulticast = 2;
constexpr int kShared = kBlockM * kBlockN * 2 + kStages * (kBlockM + kBlockN) * kBlockK * 2 +
                        2 * kStages * sizeof(uint64_t);

CUtensorMap describe(void* data, uint64_t rows, uint64_t columns, uint32_t box_rows) {
  cudaDriverEntryPointQueryResult found;
  void* entry = nullptr;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                   &found);
  CUtensorMap map;
  const cuuint64_t sizes[] = {columns, rows}, strides[] = {columns * 2};
  const cuuint32_t box[] = {kSwizzle / 2, box_rows}, steps[] = {1, 1};
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

}  // namespace

extern "C" int gemm(void* a, void* b, void* d, uint32_t m, uint32_t n, uint32_t k,
                    cudaStream_t stream) {
  auto kernel =
      &sm90_bf16_gemm_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 0, 0, 0, 1, kBlockM,
                           kBlockN, kBlockK, kSwizzle, kSwizzle, kSwizzle, kStages, kTMAThreads,
                           kMathThreads, kMulticast, MULTICAST_ON_A, NUM_SMS, GemmType::Normal,
                           false, cutlass::bfloat16_t>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {kMulticast, 1, 1};
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(NUM_SMS);
  launch.blockDim = dim3(kTMAThreads + kMathThreads);
  launch.dynamicSmemBytes = kShared;
  launch.stream = stream;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  return cudaLaunchKernelEx(&launch, kernel, static_cast<int*>(nullptr), m, n, k,
                            describe(a, m, k, kBlockM), describe(b, n, k, kBlockN),
                            describe(d, m, n, kBlockM));
}
