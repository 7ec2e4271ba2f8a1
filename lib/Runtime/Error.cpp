//===- Error.cpp - Errors as values ---------------------------------------===//

#include "tile/Runtime/Error.h"

using namespace tile::runtime;

const char *tile::runtime::getErrorCodeName(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
    return "invalid-argument";
  case ErrorCode::InvalidKernel:
    return "invalid-kernel";
  case ErrorCode::NotFound:
    return "not-found";
  case ErrorCode::Unavailable:
    return "unavailable";
  case ErrorCode::Driver:
    return "driver";
  case ErrorCode::Fault:
    return "fault";
  case ErrorCode::Cancelled:
    return "cancelled";
  case ErrorCode::Io:
    return "io";
  case ErrorCode::OutOfMemory:
    return "out-of-memory";
  }
  return "unknown";
}

static const char *getSeverityName(Diagnostic::Severity severity) {
  switch (severity) {
  case Diagnostic::Severity::Error:
    return "error";
  case Diagnostic::Severity::Warning:
    return "warning";
  case Diagnostic::Severity::Remark:
    return "remark";
  case Diagnostic::Severity::Note:
    return "note";
  }
  return "note";
}

std::string SourceLocation::str() const {
  std::string text = file;
  if (line) {
    text += ':' + std::to_string(line);
    if (column)
      text += ':' + std::to_string(column);
  }
  return text;
}

std::string Diagnostic::str() const {
  std::string place = location.str();
  return (place.empty() ? "" : place + ": ") + getSeverityName(severity) +
         ": " + message;
}

std::string Error::str() const {
  std::string text = message;
  for (const Diagnostic &diagnostic : diagnostics)
    text += '\n' + diagnostic.str();
  return text;
}
