func.func @tile(%a : tensor<${BM}x4xf32>,
                %b : tensor<${BM*}x4xf32>) {
  return
}
