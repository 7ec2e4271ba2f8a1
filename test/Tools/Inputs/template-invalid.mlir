func.func @tile(%a : tensor<${BM}x4xf32>) {
  return
}

func.func @other(%a : tensor<${BM/2}x4xf32>) {
  return %a : tensor<8x4xf32>
}
