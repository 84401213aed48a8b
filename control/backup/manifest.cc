#include "control/backup/manifest.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <charconv>

#include "proto/base/error.h"

namespace croft::control::backup {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr char kName[] = "manifest.json";
constexpr char kSumName[] = "manifest.json.sha256";

// Numbers that JSON readers might round are text, as in protobuf's JSON.
std::string ToJson(const Manifest& manifest) {
  std::string json = fmt::format(
      "{{\n  \"format\": {},\n  \"time\": \"{}\",\n  \"epoch\": \"{}\",\n  \"revision\": \"{}\",\n"
      "  \"schema\": {},\n  \"server_version\": {},\n  \"files\": [\n",
      kFormat, manifest.time, manifest.database.epoch, manifest.database.revision,
      manifest.database.schema, manifest.database.server_version);
  for (const FileFacts& file : manifest.files) {
    json +=
        fmt::format("    {{\"name\": \"{}\", \"size\": \"{}\", \"sha256\": \"{}\"}}{}\n", file.name,
                    file.size, file.sha256, &file == &manifest.files.back() ? "" : ",");
  }
  return json + "  ]\n}\n";
}

const Value& Field(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? Value::default_instance() : found->second;
}

template <typename Number>
Number ToNumber(const Value& value) {
  Number number = 0;
  const std::string& text = value.string_value();
  std::from_chars(text.data(), text.data() + text.size(), number);
  return value.kind_case() == Value::kNumberValue ? static_cast<Number>(value.number_value())
                                                  : number;
}

absl::Status Damaged(const std::string& directory, std::string_view name, std::string_view how) {
  return Error(absl::StatusCode::kDataLoss,
               "{}/{} {}; the backup is damaged and nothing was restored: use another one",
               directory, name, how);
}

absl::StatusOr<Manifest> Parse(const std::string& directory, const std::string& json) {
  Struct object;
  if (!google::protobuf::util::JsonStringToMessage(json, &object).ok()) {
    return Damaged(directory, kName, "is no JSON");
  }
  if (const int format = ToNumber<int>(Field(object, "format")); format != kFormat) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "{} has backup format {}, this croft-control knows {}; restore it with the "
                 "version that made it",
                 directory, format, kFormat);
  }
  Manifest manifest;
  manifest.time = Field(object, "time").string_value();
  manifest.database = {.server_version = ToNumber<int>(Field(object, "server_version")),
                       .schema = ToNumber<int>(Field(object, "schema")),
                       .epoch = ToNumber<std::uint64_t>(Field(object, "epoch")),
                       .revision = ToNumber<std::int64_t>(Field(object, "revision"))};
  for (const Value& entry : Field(object, "files").list_value().values()) {
    const Struct& file = entry.struct_value();
    manifest.files.push_back({.name = Field(file, "name").string_value(),
                              .size = ToNumber<std::int64_t>(Field(file, "size")),
                              .sha256 = Field(file, "sha256").string_value()});
  }
  return manifest;
}

absl::Status CheckSchema(const std::string& directory, const Manifest& manifest) {
  if (manifest.database.schema > store::NewestSchema()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "{} has schema {}, this croft-control knows up to {}; restore it with the version "
                 "that made it, or a newer one",
                 directory, manifest.database.schema, store::NewestSchema());
  }
  return absl::OkStatus();
}

absl::Status CheckFile(const std::string& directory, const FileFacts& expected) {
  if (expected.name.empty() || expected.name.find('/') != std::string::npos) {
    return Damaged(directory, kName, "names a file outside the backup");
  }
  const auto there = ReadFacts(directory, expected.name);
  if (absl::IsNotFound(there.status())) {
    return Damaged(directory, expected.name, "is missing");
  }
  if (!there.ok()) {
    return there.status();
  }
  if (there->size != expected.size) {
    return Damaged(directory, expected.name,
                   fmt::format("has {} bytes, not {}", there->size, expected.size));
  }
  return there->sha256 == expected.sha256
             ? absl::OkStatus()
             : Damaged(directory, expected.name, "was changed: its SHA-256 is another");
}

}  // namespace

absl::Status WriteManifest(const std::string& directory, const Manifest& manifest) {
  const auto written = WriteNewFile(directory, kName, ToJson(manifest));
  if (!written.ok()) {
    return written.status();
  }
  return WriteNewFile(directory, kSumName, fmt::format("{}  {}\n", written->sha256, kName))
      .status();
}

absl::StatusOr<Manifest> CheckBackup(const std::string& directory) {
  const auto json = ReadSmallFile(directory + "/" + kName);
  if (absl::IsNotFound(json.status())) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "{0} is no backup: there is no {0}/{1}; croft-control backup makes one", directory,
                 kName);
  }
  if (!json.ok()) {
    return json.status();
  }
  identity::Sha256 sum;
  sum.Add(*json);
  const auto kept = ReadSmallFile(directory + "/" + kSumName);
  if (!kept.ok() || *kept != fmt::format("{}  {}\n", sum.Finish(), kName)) {
    return Damaged(directory, kName, fmt::format("and {} do not fit", kSumName));
  }
  auto manifest = Parse(directory, *json);
  if (!manifest.ok()) {
    return manifest.status();
  }
  if (absl::Status status = CheckSchema(directory, *manifest); !status.ok()) {
    return status;
  }
  for (const FileFacts& file : manifest->files) {
    if (absl::Status status = CheckFile(directory, file); !status.ok()) {
      return status;
    }
  }
  for (const char* needed : {kDump, kKey}) {
    if (std::ranges::find(manifest->files, needed, &FileFacts::name) == manifest->files.end()) {
      return Damaged(directory, kName, fmt::format("does not list {}", needed));
    }
  }
  return manifest;
}

}  // namespace croft::control::backup
