//===- Devices.cpp - C API: devices, streams, events, buffers -------------===//

#include "Handles.h"

using namespace tile;
using namespace tile::capi;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static TileError *give(runtime::Expected<runtime::Device> device,
                       TileDevice **out) {
  if (!device)
    return makeError(std::move(device).error());
  *out = new TileDevice(std::move(*device));
  return nullptr;
}

TileError *tileDeviceCuda(int32_t ordinal, TileDevice **device) {
  if (!device)
    return makeNullError("a place for the device");
  return give(runtime::Device::cuda(ordinal), device);
}

TileError *tileDeviceEmulator(const char *target, TileDevice **device) {
  if (!device)
    return makeNullError("a place for the device");
  return give(runtime::Device::emulator(target ? target : ""), device);
}

TileDevice *tileDeviceReference(void) {
  return new TileDevice(runtime::Device::reference());
}

TileDevice *tileDeviceBest(void) {
  return new TileDevice(runtime::Device::best());
}

void tileDeviceDestroy(TileDevice *device) { delete device; }

TileDeviceKind tileDeviceGetKind(const TileDevice *device) {
  return device ? static_cast<TileDeviceKind>(device->device.getKind())
                : TILE_DEVICE_REFERENCE;
}

const char *tileDeviceGetName(const TileDevice *device) {
  return device ? device->name.c_str() : nullptr;
}

const char *tileDeviceGetTarget(const TileDevice *device) {
  return device ? device->device.getTarget().c_str() : nullptr;
}

TileMemoryKind tileDeviceGetPlace(const TileDevice *device, int32_t *ordinal) {
  runtime::MemoryPlace place;
  if (device)
    place = device->device.getPlace();
  if (ordinal)
    *ordinal = place.ordinal;
  return static_cast<TileMemoryKind>(place.kind);
}

bool tileDeviceEquals(const TileDevice *a, const TileDevice *b) {
  return a && b ? a->device == b->device : a == b;
}

TileError *tileDeviceSynchronize(const TileDevice *device) {
  if (!device)
    return makeNullError("a device");
  return makeError(device->device.synchronize());
}

TileError *tileGetTargetOfComputeCapability(int32_t major, int32_t minor,
                                            TileText **target) {
  if (!target)
    return makeNullError("a place for the target");
  runtime::Expected<std::string> name =
      runtime::getTargetOfComputeCapability(major, minor);
  if (!name)
    return makeError(std::move(name).error());
  *target = new TileText{std::move(*name)};
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

static TileError *give(runtime::Expected<runtime::Stream> stream,
                       TileStream **out) {
  if (!stream)
    return makeError(std::move(stream).error());
  *out = new TileStream{std::move(*stream)};
  return nullptr;
}

TileError *tileStreamCreate(const TileDevice *device, TileStream **stream) {
  if (!device)
    return makeNullError("a device");
  if (!stream)
    return makeNullError("a place for the stream");
  return give(runtime::Stream::create(device->device), stream);
}

TileError *tileStreamBorrow(const TileDevice *device, void *cudaStream,
                            TileStream **stream) {
  if (!device)
    return makeNullError("a device");
  if (!stream)
    return makeNullError("a place for the stream");
  return give(runtime::Stream::borrow(device->device, cudaStream), stream);
}

void tileStreamDestroy(TileStream *stream) { delete stream; }

TileDevice *tileStreamGetDevice(const TileStream *stream) {
  return stream ? new TileDevice(stream->stream.getDevice()) : nullptr;
}

void *tileStreamGetNativeHandle(const TileStream *stream) {
  return stream ? stream->stream.getNativeHandle() : nullptr;
}

TileError *tileStreamSynchronize(const TileStream *stream) {
  if (!stream)
    return makeNullError("a stream");
  return makeError(stream->stream.synchronize());
}

TileError *tileStreamRecord(const TileStream *stream, TileEvent **event) {
  if (!stream)
    return makeNullError("a stream");
  if (!event)
    return makeNullError("a place for the event");
  runtime::Expected<runtime::Event> recorded = stream->stream.record();
  if (!recorded)
    return makeError(std::move(recorded).error());
  *event = new TileEvent{std::move(*recorded)};
  return nullptr;
}

TileError *tileStreamWait(const TileStream *stream, const TileEvent *event) {
  if (!stream)
    return makeNullError("a stream");
  if (!event)
    return makeNullError("an event");
  return makeError(stream->stream.wait(event->event));
}

TileError *tileEventSynchronize(const TileEvent *event) {
  if (!event)
    return makeNullError("an event");
  return makeError(event->event.synchronize());
}

TileError *tileEventIsComplete(const TileEvent *event, bool *isComplete) {
  if (!event)
    return makeNullError("an event");
  if (!isComplete)
    return makeNullError("a place for the answer");
  runtime::Expected<bool> answer = event->event.isComplete();
  if (!answer)
    return makeError(std::move(answer).error());
  *isComplete = *answer;
  return nullptr;
}

TileError *tileEventGetElapsedMs(const TileEvent *start, const TileEvent *end,
                                 float *milliseconds) {
  if (!start || !end)
    return makeNullError("two events");
  if (!milliseconds)
    return makeNullError("a place for the time");
  runtime::Expected<float> elapsed = end->event.getElapsedMs(start->event);
  if (!elapsed)
    return makeError(std::move(elapsed).error());
  *milliseconds = *elapsed;
  return nullptr;
}

void tileEventDestroy(TileEvent *event) { delete event; }

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

TileError *tile::capi::readTensor(const TileTensor *tensor,
                                  runtime::TensorRef &array) {
  if (!tensor)
    return makeNullError("an array");
  if (TileError *error = checkSize(*tensor, "TileTensor"))
    return error;
  if (TileError *error = checkElementType(tensor->type, "an array"))
    return error;
  if (tensor->rank < 0)
    return makeError("expects an array of rank 0 or more, but got " +
                     std::to_string(tensor->rank));
  if (tensor->rank && !tensor->shape)
    return makeNullError("the shape of an array");
  const int place = getNumber(tensor->place);
  if (place != TILE_MEMORY_HOST && place != TILE_MEMORY_CUDA)
    return makeError("expects an array in host or CUDA memory, but got place " +
                     std::to_string(place));

  array.data = tensor->data;
  array.type = getElementType(tensor->type);
  array.readOnly = tensor->readOnly;
  array.place = {static_cast<runtime::MemoryPlace::Kind>(place),
                 tensor->ordinal};
  array.shape.assign(tensor->shape, tensor->shape + tensor->rank);
  if (tensor->strides)
    array.strides.assign(tensor->strides, tensor->strides + tensor->rank);
  else
    array.strides = runtime::getContiguousStrides(array.shape);
  return nullptr;
}

TileTensor tile::capi::describeTensor(const runtime::TensorRef &array) {
  TileTensor tensor = {};
  tensor.data = array.data;
  tensor.type = static_cast<TileElementType>(array.type);
  tensor.rank = static_cast<int32_t>(array.shape.size());
  tensor.shape = array.shape.data();
  tensor.strides = array.strides.data();
  tensor.place = static_cast<TileMemoryKind>(array.place.kind);
  tensor.ordinal = array.place.ordinal;
  tensor.readOnly = array.readOnly;
  return tensor;
}

TileError *tileBufferAllocate(const TileDevice *device, TileElementType type,
                              int32_t rank, const int64_t *shape,
                              TileBuffer **buffer) {
  if (!device)
    return makeNullError("a device");
  if (!buffer)
    return makeNullError("a place for the buffer");
  if (TileError *error = checkElementType(type, "a buffer"))
    return error;
  if (rank < 0)
    return makeError("expects a buffer of rank 0 or more, but got " +
                     std::to_string(rank));
  if (rank && !shape)
    return makeNullError("the shape of a buffer");
  runtime::Expected<runtime::Buffer> allocated = runtime::Buffer::allocate(
      device->device, getElementType(type), {shape, shape + rank});
  if (!allocated)
    return makeError(std::move(allocated).error());
  *buffer = new TileBuffer{std::move(*allocated)};
  return nullptr;
}

void tileBufferDestroy(TileBuffer *buffer) { delete buffer; }

TileError *tileBufferGetTensor(const TileBuffer *buffer, TileTensor *tensor) {
  if (!buffer)
    return makeNullError("a buffer");
  if (!tensor)
    return makeNullError("a place for the array");
  if (TileError *error = checkSize(*tensor, "TileTensor"))
    return error;
  write(tensor, describeTensor(buffer->buffer.getRef()));
  return nullptr;
}

size_t tileBufferGetNumBytes(const TileBuffer *buffer) {
  return buffer ? buffer->buffer.getNumBytes() : 0;
}

TileError *tileBufferCopyFromHost(TileBuffer *buffer, const void *source,
                                  const TileStream *stream) {
  if (!buffer)
    return makeNullError("a buffer");
  if (!source && buffer->buffer.getNumBytes())
    return makeNullError("host memory to copy from");
  if (stream)
    return makeError(buffer->buffer.copyFromHost(source, stream->stream));
  return makeError(buffer->buffer.copyFromHost(source));
}

TileError *tileBufferCopyToHost(const TileBuffer *buffer, void *destination,
                                const TileStream *stream) {
  if (!buffer)
    return makeNullError("a buffer");
  if (!destination && buffer->buffer.getNumBytes())
    return makeNullError("host memory to copy to");
  if (stream)
    return makeError(buffer->buffer.copyToHost(destination, stream->stream));
  return makeError(buffer->buffer.copyToHost(destination));
}

TileError *tileBufferFill(TileBuffer *buffer, uint8_t byte) {
  if (!buffer)
    return makeNullError("a buffer");
  return makeError(buffer->buffer.fill(byte));
}
