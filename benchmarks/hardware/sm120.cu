// DeepGEMM's bfloat16 GEMM of SM120, instantiated to be compiled: no card of this machine runs it.
#include <deep_gemm/impls/sm120_bf16_gemm.cuh>

using namespace deep_gemm;

auto kernel = &sm120_bf16_gemm_impl<0, 0, 0, 1, 128, 128, 64, 128, 128, 128, 3, 128, 256, 188,
                                    GemmType::Normal, false, cutlass::bfloat16_t>;
