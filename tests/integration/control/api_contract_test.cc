// Every method of the API, as reflection finds it, keeps the API's promises. A method that is
// neither a standard one nor among the others below fails this test.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/integration/control/contract_examples.h"
#include "tests/integration/control/reflected_api.h"
#include "tests/integration/control/type_round.h"

namespace croft::tests {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::MethodDescriptor;
using grpc::StatusCode;

const char* const kVerbs[] = {"Create", "Get", "List", "Update", "Delete", "Undelete"};

// Methods with a use case of their own: a request, and what it is answered with.
struct CustomMethod {
  std::string name;
  std::string request;
  StatusCode code = StatusCode::OK;
};

const std::vector<CustomMethod>& CustomMethods() {
  static const std::vector<CustomMethod> methods = {
      {"croft.v1.NodeService.CreateJoinToken", "node: '$FARM/nodes/joining'"},
      {"croft.v1.NodeService.ResumeNode", "name: '$FARM/nodes/none' expected_count: 1",
       StatusCode::NOT_FOUND},
      {"croft.v1.SiteService.ExplainUrl", "farm: '$FARM' url: 'http://nobody.example/'"},
      {"croft.v1.ChangeService.ListChanges", "page_size: 1"},
      {"croft.v1.ChangeService.GetChange", "revision: 1"},
      {"croft.v1.ChangeService.ListHistory", "name: '$FARM'"},
      {"croft.v1.ChangeService.UndoChange", "revision: 1000000000", StatusCode::NOT_FOUND},
      {"croft.v1.ChangeService.WaitForRevision", "farm: '$FARM' revision: 1 level: ACCEPTED"},
      {"croft.v1.ReportService.ListCounters", "type: 'site' farm: '$FARM'"},
      {"croft.v1.ReportService.Top", "type: 'site' farm: '$FARM'"},
      {"croft.v1.ReportService.ListEvents", ""},
      {"croft.v1.ReportService.ListCounterHistory", "type: 'site' farm: '$FARM'"},
      {"croft.v1.ResourceService.ApplyResources",
       "resources { farm { name: '$FARM' } } validate_only: true"},
      {"croft.v1.ResourceService.UpdateResources",
       "type: 'site' parent: '$FARM' filter: 'name = none' validate_only: true "
       "resource { site { state: STOPPED } } update_mask { paths: 'state' }"},
      {"croft.v1.ResourceService.DeleteResources",
       "type: 'site' parent: '$FARM' filter: 'name = none' validate_only: true"},
      {"croft.v1.OperationService.GetOperation", "name: 'operations/none'", StatusCode::NOT_FOUND},
      {"croft.v1.OperationService.ListOperations", ""},
      {"croft.v1.OperationService.CancelOperation", "name: 'operations/none'",
       StatusCode::NOT_FOUND},
      {"croft.v1.OperationService.WaitOperation", "name: 'operations/none'", StatusCode::NOT_FOUND},
      {"croft.node.v1.Enrollment.Enroll", "token: 'none'", StatusCode::INVALID_ARGUMENT},
  };
  return methods;
}

class ApiContract : public testing::Test {
 protected:
  void SetUp() override {
    farm_id_ = NewFarmId();
    farm_ = "farms/" + farm_id_;
    ASSERT_TRUE(Call("CreateFarm", "farm_id: '" + farm_id_ + "'").ok());
    ASSERT_TRUE(Call("CreateStore", "parent: '" + farm_ +
                                        "' store_id: 'files' store { path: '/srv/" + farm_id_ +
                                        "' homes { fan_out: 9 } }")
                    .ok());
  }

  const MethodDescriptor* Find(const std::string& name) {
    for (const auto* service : api_.services()) {
      if (const auto* method = service->FindMethodByName(name)) {
        return method;
      }
    }
    return nullptr;
  }
  Reply Call(const std::string& method, const std::string& text) {
    return Call(method, text, control_.token());
  }
  Reply Call(const std::string& method, const std::string& text, const std::string& token) {
    const MethodDescriptor* found = Find(method);
    EXPECT_NE(found, nullptr) << method;
    return found == nullptr ? Reply() : api_.Call(*found, text, token);
  }
  std::int64_t Revision() {
    const Reply reply = Call("ListChanges", "page_size: 1");
    const auto& message = *reply.message;
    const auto* changes = message.GetDescriptor()->FindFieldByName("changes");
    const auto& change = message.GetReflection()->GetRepeatedMessage(message, changes, 0);
    return change.GetReflection()->GetInt64(change,
                                            change.GetDescriptor()->FindFieldByName("revision"));
  }

  RunningControl& control_ = RunningControl::Shared();
  ReflectedApi api_{control_};
  std::string farm_id_;
  std::string farm_;
};

TEST_F(ApiContract, EveryTypeKeepsThePromisesOfTheStandardMethods) {
  for (const ContractExample& example : ContractExamples()) {
    SCOPED_TRACE(example.noun);
    const TypeRound round(
        example, farm_, example.noun + farm_id_,
        [this](const std::string& method, const std::string& text) { return Call(method, text); });
    if (example.is_single) {
      CheckUpdate(round, "platform");
      continue;
    }
    CheckCreate(round);
    CheckRead(round);
    CheckList(round);
    CheckUpdate(round, round.name("c"));
    CheckDelete(round, Find("Undelete" + example.service) != nullptr);
  }
}

// The examples that a verb and a type make of a method, or the list of other methods, know it.
TEST_F(ApiContract, NoMethodIsOutsideTheContract) {
  std::set<std::string> standard;
  for (const ContractExample& example : ContractExamples()) {
    for (const std::string verb : kVerbs) {
      standard.insert(verb + example.service + (verb == "List" ? "s" : ""));
    }
  }
  std::set<std::string> custom;
  for (const CustomMethod& method : CustomMethods()) {
    custom.insert(method.name);
  }
  std::size_t methods = 0;
  for (const auto* service : api_.services()) {
    for (int i = 0; i < service->method_count(); ++i) {
      const MethodDescriptor& method = *service->method(i);
      const bool is_stream = method.client_streaming() || method.server_streaming();
      ++methods;
      EXPECT_TRUE(is_stream || standard.contains(method.name()) ||
                  custom.contains(method.full_name()))
          << method.full_name() << " has neither an example nor a check of its own";
    }
  }
  EXPECT_GT(methods, 60U);
}

TEST_F(ApiContract, EveryUnaryMethodRefusesStrangersAndUnknownFields) {
  constexpr int kNoField = 9999;
  const std::string unknown = WireField(kNoField, "x");
  for (const auto* service : api_.services()) {
    for (int i = 0; i < service->method_count(); ++i) {
      const MethodDescriptor& method = *service->method(i);
      if (method.client_streaming() || method.server_streaming()) {
        continue;
      }
      SCOPED_TRACE(method.full_name());
      const bool is_anonymous = method.full_name() == "croft.node.v1.Enrollment.Enroll";
      if (!is_anonymous) {
        EXPECT_EQ(api_.Call(method, "", "").code(), StatusCode::UNAUTHENTICATED);
        EXPECT_EQ(api_.Call(method, "", "wrong").code(), StatusCode::UNAUTHENTICATED);
      }
      EXPECT_EQ(api_.CallWith(method, "", unknown, control_.token()).code(),
                StatusCode::INVALID_ARGUMENT);
      // And in every message of the request.
      for (int j = 0; j < method.input_type()->field_count(); ++j) {
        const FieldDescriptor& field = *method.input_type()->field(j);
        if (field.message_type() != nullptr && !field.is_map()) {
          EXPECT_EQ(api_.CallWith(method, "", WireField(field.number(), unknown), control_.token())
                        .code(),
                    StatusCode::INVALID_ARGUMENT)
              << field.name();
        }
      }
    }
  }
}

TEST_F(ApiContract, EveryOtherMethodAnswersItsRequest) {
  for (const CustomMethod& custom : CustomMethods()) {
    SCOPED_TRACE(custom.name);
    const MethodDescriptor* method = api_.FindMethod(custom.name);
    ASSERT_NE(method, nullptr);
    const Reply reply =
        api_.Call(*method, ReplaceAll(custom.request, "$FARM", farm_), control_.token());
    EXPECT_EQ(reply.code(), custom.code) << reply.status.error_message();
  }
}

TEST_F(ApiContract, AForeignTokenSeesNothing) {
  const std::string id = "stranger-" + farm_id_;
  ASSERT_TRUE(Call("CreateOperator", "operator_id: '" + id + "' operator {}").ok());
  const Reply token = Call("CreateToken", "token_id: '" + id + "' token { operator: 'operators/" +
                                              id + "' lifetime: 600000 }");
  ASSERT_TRUE(token.ok()) << token.status.error_message();
  const std::string secret = token.Field("secret");
  ASSERT_NE(secret, "");
  for (const ContractExample& example : ContractExamples()) {
    SCOPED_TRACE(example.noun);
    const auto call = [&](const std::string& method, const std::string& text) {
      return Call(method, text, secret);
    };
    const TypeRound round(example, farm_, "foreign-" + example.noun + farm_id_, call);
    if (example.is_single) {
      continue;
    }
    ASSERT_TRUE(Call("Create" + example.service, round.CreateText("a")).ok());
    const std::string name = "name: '" + round.name("a") + "' ";
    EXPECT_EQ(round.Do("Get", name).code(), StatusCode::NOT_FOUND);
    EXPECT_EQ(round.Do("Delete", name).code(), StatusCode::NOT_FOUND);
    EXPECT_EQ(round.Do("Update", round.UpdateText(round.name("a"), example.change)).code(),
              StatusCode::NOT_FOUND);
    const Reply listed = round.Do("List", round.ListText("name = " + round.id("a")));
    EXPECT_TRUE(listed.code() == StatusCode::NOT_FOUND || listed.Names().empty());
  }
}

}  // namespace
}  // namespace croft::tests
