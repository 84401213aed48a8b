// The second numbers of IIS's status codes that a worker uses (404.8 is kHiddenSegment); ours begin
// at 100.
#pragma once

namespace croft::node::worker::http {

inline constexpr int kNoSubstatus = 0;
inline constexpr int kReadForbidden = 2;       // 403: the worker's identity may not read it
inline constexpr int kMimeTypeUnknown = 3;     // 404: no media type for the extension
inline constexpr int kHiddenSegment = 8;       // 404: a segment that is never served
inline constexpr int kListingDenied = 14;      // 403: a directory without default document
inline constexpr int kStoreBusy = 101;         // 503: the store does not answer
inline constexpr int kStoreMissing = 102;      // 503: the store's path cannot be opened
inline constexpr int kOutOfDescriptors = 103;  // 503
inline constexpr int kStoreError = 104;        // 500 or 503: the store answered with an error

}  // namespace croft::node::worker::http
