// ReportService.WatchEvents, and which events a caller may see.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/repeated_field.h>

#include <string>

#include "control/api/stream_methods.h"
#include "control/api/visibility.h"
#include "control/domain/access.h"
#include "control/store/store.h"
#include "croft/v1/report.pb.h"

namespace croft::control::api {

// OK where the caller may ask for events of the resource: not_found for what it doesn't see. To
// name a farm is no reading.
absl::Status CheckEventsOf(Visibility& visibility, const std::string& resource);
// Takes out the events that name nothing the caller may see.
absl::Status LeaveVisible(Visibility& visibility,
                          google::protobuf::RepeatedPtrField<v1::Event>& events);

// Both outlive the table.
void AddWatchEvents(store::Store& store, domain::Access& access, StreamMethods& streams);

}  // namespace croft::control::api
