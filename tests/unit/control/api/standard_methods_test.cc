#include "control/api/standard_methods.h"

#include <gtest/gtest.h>

#include <map>

#include "croft/v1/site.pb.h"

namespace croft::control::api {
namespace {

using contract::ResourceType;

TEST(StandardMethods, EveryTypeHasItsVerbsAndNoOtherMethodIsTakenForOne) {
  std::map<ResourceType, std::string> verbs;
  std::string others;
  for (const google::protobuf::ServiceDescriptor* service : AllServices()) {
    for (int i = 0; i < service->method_count(); ++i) {
      const auto found = FindStandardMethod(*service->method(i));
      if (found.has_value()) {
        verbs[found->type] += "CGLUDR"[static_cast<int>(found->verb)];
      } else {
        others += service->method(i)->name() + " ";
      }
    }
  }
  const std::map<ResourceType, std::string> expected = {
      {ResourceType::kPlatform, "GU"},     {ResourceType::kOrganization, "CGLUDR"},
      {ResourceType::kFarm, "CGLUDR"},     {ResourceType::kNode, "CGLUDR"},
      {ResourceType::kStore, "CGLUDR"},    {ResourceType::kPool, "CGLUDR"},
      {ResourceType::kSite, "CGLUDR"},     {ResourceType::kAccount, "CGLUDR"},
      {ResourceType::kOperator, "CGLUDR"}, {ResourceType::kToken, "CGLUD"}};
  EXPECT_EQ(verbs, expected);
  EXPECT_EQ(
      others,
      "CreateJoinToken ResumeNode ExplainUrl GetOperation ListOperations "
      "CancelOperation "
      "WaitOperation ApplyResources ImportResources UpdateResources DeleteResources "
      "WatchResources ListChanges GetChange ListHistory UndoChange WaitForRevision ListCounters "
      "Top ListEvents WatchEvents ListCounterHistory Connect Enroll ");
}

TEST(StandardMethods, FingerprintTellsRequestsApartAndDoesNotDependOnMapOrder) {
  const auto with_types = [](std::initializer_list<const char*> extensions) {
    v1::CreateSiteRequest request;
    auto& types =
        *request.mutable_site()->mutable_settings()->mutable_static_files()->mutable_mime_types();
    for (const char* extension : extensions) {
      (*types.mutable_entries())[extension] = "text/plain";
    }
    return Fingerprint(request);
  };
  EXPECT_EQ(with_types({"a", "b", "c"}), with_types({"c", "b", "a"}));
  EXPECT_NE(with_types({"a", "b"}), with_types({"a", "c"}));
  EXPECT_NE(Fingerprint(v1::CreateSiteRequest()), Fingerprint(v1::UpdateSiteRequest()));
}

}  // namespace
}  // namespace croft::control::api
