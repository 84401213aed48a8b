// Between rows and messages: the fields that every resource has, by reflection.
#pragma once

#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control/domain/resources.h"
#include "control/store/store.h"
#include "croft/v1/error.pb.h"

namespace croft::control::domain {

MessagePtr NewMessage(contract::ResourceType type);
MessagePtr Copy(const google::protobuf::Message& message);

std::string GetText(const google::protobuf::Message& resource, const char* field);
void SetText(google::protobuf::Message& resource, const char* field, std::string_view value);

// The version of a row, as operators see it.
std::string FormatEtag(std::int64_t change_id);

// False when the body can't be read (a row changed by hand); the message then has the fields that
// every resource has, and no others.
bool ParseRow(const store::StoredResource& row, google::protobuf::Message& resource);
// Sets what control sets: name, uid, organization, etag, times (of a deleted row also when it was
// deleted and will be purged), revision.
void SetOutputFields(const store::StoredResource& row, google::protobuf::Message& resource);
// What is stored: the body, without those but with a pool's identity, which nodes need; the owners
// of its fields; and the terms to find it by.
void SetBody(const google::protobuf::Message& resource, store::StoredResource& row);
void SetRevision(std::int64_t revision, google::protobuf::Message& resource);

// On input: fields that only control sets are ignored (AIP-203).
void ClearOutputOnly(google::protobuf::Message& resource);

// The mask that stands for an absent one: every field that is set, at any depth of messages
// (AIP-134).
google::protobuf::FieldMask MaskOfSetFields(const google::protobuf::Message& resource);

// Gives `next` the immutable fields that it leaves empty as `current` has them, so that replacing
// everything doesn't mean changing what is fixed. To be done before Normalize fills in defaults.
void FillImmutable(const google::protobuf::Message& current, google::protobuf::Message& next);

// Puts immutable fields of `next` back to what `current` has where `next` leaves them empty; a
// violation for each that would change.
std::vector<v1::FieldViolation> KeepImmutable(const google::protobuf::Message& current,
                                              google::protobuf::Message& next);

}  // namespace croft::control::domain
