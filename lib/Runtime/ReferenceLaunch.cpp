//===- ReferenceLaunch.cpp - Launches on the reference device -------------===//

#include "DeviceImpl.h"
#include "Frontend.h"
#include "KernelImpl.h"

using namespace tile::runtime;

Status tile::runtime::launchOnReference(const LaunchRequest &request) {
  auto kernel = request.kernel->getReference();
  if (!kernel)
    return std::move(kernel).error();
  return (*kernel)->launch(request);
}
