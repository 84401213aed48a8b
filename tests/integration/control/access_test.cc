// Organizations, operators and tokens against a real control: hoster above reseller above customer,
// and an organization beside them; what each one's token sees and does, by every standard method of
// every type; tokens that end.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "croft/v1/change.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/report.pb.h"
#include "croft/v1/resource.grpc.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

using google::protobuf::Message;
using grpc::StatusCode;

std::unique_ptr<Message> Make(const std::string& type, const std::string& text) {
  const auto* descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName("croft.v1." + type);
  EXPECT_NE(descriptor, nullptr) << type;
  std::unique_ptr<Message> made(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, made.get()))
      << type << " " << text;
  return made;
}

// One type and the resource of it that others ask for.
struct TypeCase {
  std::string service;  // "Pool"
  std::string noun;     // "pool"
  std::string message;  // "ApplicationPool"
  bool in_farm = false;
  std::string resource;   // text at creation, without the owner
  bool has_owner = true;  // names its organization
};

class ControlAccess : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::make_unique<Client>(control_.Connect(), control_.token());
    id_ = NewFarmId();
    farm_ = "farms/" + id_;
    Do("Farm", "CreateFarm", "farm_id: '" + id_ + "'");
    for (const auto& [id, parent] : {std::pair("hoster", ""), std::pair("reseller", "hoster"),
                                     std::pair("customer", "reseller"), std::pair("other", "")}) {
      const std::string above = *parent == '\0' ? "organizations/root" : Org(parent);
      Do("Organization", "CreateOrganization",
         "organization_id: '" + Id(id) + "' organization { organization: '" + above + "' }");
    }
  }

  std::string Id(const std::string& id) const { return id_ + "-" + id; }
  std::string Org(const std::string& id) const { return "organizations/" + Id(id); }

  // Of the response type, by the method's request in text form.
  grpc::Status Call(const Client& client, const std::string& service, const std::string& method,
                    const std::string& text, std::unique_ptr<Message>* response = nullptr) {
    const auto* descriptor = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
        "croft.v1." + service + "Service." + method);
    EXPECT_NE(descriptor, nullptr) << method;
    const auto request = Make(descriptor->input_type()->name(), text);
    auto answer = Make(descriptor->output_type()->name(), "");
    const grpc::Status status =
        client.Call("croft.v1." + service + "Service/" + method, *request, *answer);
    if (response != nullptr) {
      *response = std::move(answer);
    }
    return status;
  }
  // As the administrator; has to succeed.
  std::unique_ptr<Message> Do(const std::string& service, const std::string& method,
                              const std::string& text) {
    std::unique_ptr<Message> response;
    const grpc::Status status = Call(*root_, service, method, text, &response);
    EXPECT_TRUE(status.ok()) << method << ": " << status.error_message();
    return response;
  }

  std::string MakeToken(const std::string& id, const std::string& of, const std::string& more) {
    const auto made = Do(
        "Token", "CreateToken",
        "token_id: '" + Id(id) + "' token { operator: 'operators/" + Id(of) + "' " + more + " }");
    return static_cast<const v1::Token&>(*made).secret();
  }
  // A new operator of the organization, with one grant there, and a token's secret.
  std::string Login(const std::string& id, const std::string& organization,
                    const std::string& grant) {
    Do("Operator", "CreateOperator",
       "operator_id: '" + Id(id) + "' operator { organization: '" + organization +
           "' grants { organization: '" + organization + "' " + grant + " } }");
    return MakeToken(id, id, "");
  }
  Client As(const std::string& secret) { return Client(control_.Connect(), secret); }

  std::vector<TypeCase> Types() {
    return {{"Organization", "organization", "Organization", false, ""},
            {"Operator", "operator", "Operator", false, ""},
            {"Token", "token", "Token", false, "operator: 'operators/" + Id("owner") + "'", false},
            {"Farm", "farm", "Farm", false, "", false},
            {"Node", "node", "Node", true, "", false},
            {"Store", "store", "FileStore", true, "path: '/srv/f' homes { fan_out: 9 }", false},
            {"Pool", "pool", "ApplicationPool", true, ""},
            {"Site", "site", "Site", true, "bindings { host: '" + Id("x") + ".example' }"},
            {"Account", "account", "Account", true, ""}};
  }
  std::string CreateText(const TypeCase& type, const std::string& id) {
    return (type.in_farm ? "parent: '" + farm_ + "' " : "") + type.noun + "_id: '" + id + "' " +
           type.noun + " { " + (type.has_owner ? "organization: '" + Org("customer") + "' " : "") +
           type.resource + " }";
  }
  static std::string NameOf(const Message& resource) {
    return resource.GetReflection()->GetString(resource,
                                               resource.GetDescriptor()->FindFieldByName("name"));
  }

  RunningControl& control_ = RunningControl::Shared();
  std::unique_ptr<Client> root_;
  std::string id_, farm_;
};

TEST_F(ControlAccess, ForeignTokenSeesNothingAndAViewerChangesNothing) {
  Login("owner", Org("customer"), "role: OPERATOR");
  const Client foreign = As(Login("foreign", Org("other"), "role: ADMINISTRATOR"));
  Do("Operator", "CreateOperator",
     "operator_id: '" + Id("viewer") +
         "' operator { grants { organization: 'organizations/root' role: VIEWER } }");
  const Client viewer = As(MakeToken("viewer", "viewer", ""));
  for (const TypeCase& type : Types()) {
    SCOPED_TRACE(type.service);
    const std::string name =
        NameOf(*Do(type.service, "Create" + type.service, CreateText(type, Id("it"))));
    const std::string named = "name: '" + name + "'";
    const std::string parent = type.in_farm ? "parent: '" + farm_ + "'" : "";
    const std::string update = type.noun + " { " + named +
                               " labels { key: 'a' value: 'b' } } update_mask { paths: 'labels' }";
    std::unique_ptr<Message> listed;

    EXPECT_EQ(Call(foreign, type.service, "Get" + type.service, named).error_code(),
              StatusCode::NOT_FOUND);
    const grpc::Status list = Call(foreign, type.service, "List" + type.service + "s",
                                   parent + " page_size: 1000", &listed);
    ASSERT_TRUE(list.ok()) << list.error_message();
    EXPECT_EQ(listed->DebugString().find(name), std::string::npos) << listed->DebugString();
    EXPECT_EQ(Call(foreign, type.service, "Update" + type.service, update).error_code(),
              StatusCode::NOT_FOUND);
    EXPECT_EQ(Call(foreign, type.service, "Delete" + type.service, named).error_code(),
              StatusCode::NOT_FOUND);
    const grpc::Status create =
        Call(foreign, type.service, "Create" + type.service, CreateText(type, Id("new")));
    EXPECT_FALSE(create.ok());
    EXPECT_EQ(create.error_message().find("already"), std::string::npos);

    EXPECT_TRUE(Call(viewer, type.service, "Get" + type.service, named).ok());
    ASSERT_TRUE(Call(viewer, type.service, "List" + type.service + "s", parent + " page_size: 1000",
                     &listed)
                    .ok());
    EXPECT_NE(listed->DebugString().find(name), std::string::npos);
    for (const auto& [method, text] : {std::pair("Update", update), std::pair("Delete", named),
                                       std::pair("Create", CreateText(type, Id("new")))}) {
      const grpc::Status status = Call(viewer, type.service, method + type.service, text);
      EXPECT_EQ(status.error_code(), StatusCode::PERMISSION_DENIED)
          << method << ": " << status.error_message();
    }
    if (type.noun == "organization" || type.noun == "operator") {
      Do(type.service, "Delete" + type.service, named);
    }
  }
}

TEST_F(ControlAccess, ReportsAndTheAuditTellOnlyOfWhatIsSeen) {
  const Client foreign = As(Login("foreign", Org("other"), "role: ADMINISTRATOR"));
  const Client owner = As(Login("owner", Org("customer"), "role: OPERATOR"));
  const std::string host = Id("shop") + ".example";
  const auto create = [&](const Client& client, std::unique_ptr<Message>* site) {
    return Call(client, "Site", "CreateSite",
                "parent: '" + farm_ + "' site_id: 'shop' site { organization: '" + Org("customer") +
                    "' bindings { host: '" + host + "' } }",
                site);
  };
  std::unique_ptr<Message> site;
  ASSERT_TRUE(create(owner, &site).ok());
  const std::string name = NameOf(*site);
  std::unique_ptr<Message> answer;
  EXPECT_EQ(Call(foreign, "Change", "ListChanges", "resource: '" + name + "'").error_code(),
            StatusCode::NOT_FOUND);
  ASSERT_TRUE(Call(foreign, "Change", "ListChanges", "", &answer).ok());
  EXPECT_EQ(answer->DebugString().find(name), std::string::npos);
  ASSERT_TRUE(Call(owner, "Change", "ListChanges", "resource: '" + name + "'", &answer).ok());
  EXPECT_EQ(static_cast<const v1::ListChangesResponse&>(*answer).changes(0).who(), Id("owner"));
  EXPECT_EQ(Call(foreign, "Report", "ListEvents", "resource: '" + name + "'").error_code(),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(Call(foreign, "Report", "ListCounters",
                 "type: 'site' farm: '" + farm_ + "' instance: '" + name + "'")
                .error_code(),
            StatusCode::NOT_FOUND);
  const std::string url = "farm: '" + farm_ + "' url: 'http://" + host + "/'";
  EXPECT_EQ(Call(foreign, "Site", "ExplainUrl", url).error_code(), StatusCode::NOT_FOUND);
  ASSERT_TRUE(Call(owner, "Site", "ExplainUrl", url, &answer).ok());
  EXPECT_EQ(static_cast<const v1::ExplainUrlResponse&>(*answer).site(), name);
  const grpc::Status enroll =
      Call(owner, "Node", "CreateJoinToken", "node: '" + farm_ + "/nodes/evil'");
  EXPECT_EQ(enroll.error_code(), StatusCode::PERMISSION_DENIED) << enroll.error_message();
}

TEST_F(ControlAccess, OperatorMakesNoOperatorsAndAScopeNarrows) {
  Login("alice", Org("reseller"), "role: OPERATOR");
  const Client alice = As(MakeToken("alice2", "alice", ""));
  EXPECT_EQ(
      Call(alice, "Operator", "CreateOperator",
           "operator_id: '" + Id("eve") + "' operator { organization: '" + Org("reseller") + "' }")
          .error_code(),
      StatusCode::PERMISSION_DENIED);
  const Client narrow = As(
      MakeToken("narrow", "alice",
                "scope { organization: '" + Org("customer") + "' role: OPERATOR types: 'pool' }"));
  const auto create = [&](const Client& client, const std::string& type,
                          const std::string& organization) {
    return Call(client, type == "pool" ? "Pool" : "Account",
                type == "pool" ? "CreatePool" : "CreateAccount",
                "parent: '" + farm_ + "' " + type + "_id: '" + organization + "' " + type +
                    " { organization: '" + Org(organization) + "' }")
        .error_code();
  };
  EXPECT_EQ(create(narrow, "pool", "customer"), StatusCode::OK);
  EXPECT_NE(create(narrow, "pool", "reseller"), StatusCode::OK);
  EXPECT_NE(create(narrow, "account", "customer"), StatusCode::OK);
  EXPECT_EQ(create(alice, "pool", "reseller"), StatusCode::OK);
}

TEST_F(ControlAccess, ExpiredAndRevokedTokensAreRefused) {
  Login("alice", Org("reseller"), "role: OPERATOR");
  const auto sees = [&](const Client& client) {
    return Call(client, "Site", "ListSites", "parent: '" + farm_ + "'").error_code();
  };
  const auto refused_within = [&](const Client& client, std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < deadline) {
      if (sees(client) == StatusCode::UNAUTHENTICATED) {
        return true;
      }
    }
    return false;
  };
  const Client brief = As(MakeToken("brief", "alice", "lifetime: 300"));
  EXPECT_EQ(sees(brief), StatusCode::OK);
  EXPECT_TRUE(refused_within(brief, std::chrono::seconds(1)));
  const Client revoked = As(MakeToken("revoked", "alice", ""));
  EXPECT_EQ(sees(revoked), StatusCode::OK);
  Do("Token", "DeleteToken", "name: 'tokens/" + Id("revoked") + "'");
  EXPECT_TRUE(refused_within(revoked, std::chrono::seconds(1)));
  const Client disabled = As(MakeToken("kept", "alice", ""));
  EXPECT_EQ(sees(disabled), StatusCode::OK);
  Do("Operator", "UpdateOperator",
     "operator { name: 'operators/" + Id("alice") +
         "' disabled: true } update_mask { paths: 'disabled' }");
  EXPECT_TRUE(refused_within(disabled, std::chrono::seconds(1)));
}

TEST_F(ControlAccess, TokenRevokedInTheMiddleOfAnImportEndsItWithinASecond) {
  Do("Store", "CreateStore",
     "parent: '" + farm_ + "' store_id: 'home' store { path: '/srv/h' homes { fan_out: 9 } }");
  const Client client = As(Login("importer", Org("customer"), "role: OPERATOR"));
  const auto stub = v1::ResourceService::NewStub(client.channel());
  grpc::ClientContext context;
  client.Authorize(context);
  const auto stream = stub->ImportResources(&context);
  v1::ImportResourcesRequest request;
  v1::Account& account = *request.add_rows()->mutable_resource()->mutable_account();
  account.set_name(farm_ + "/accounts/a1");
  account.set_organization(Org("customer"));
  ASSERT_TRUE(stream->Write(request));
  v1::ImportResourcesResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.counts().created(), 1) << response.DebugString();
  Do("Token", "DeleteToken", "name: 'tokens/" + Id("importer") + "'");
  const auto revoked = std::chrono::steady_clock::now();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_LT(std::chrono::steady_clock::now() - revoked, std::chrono::seconds(1));
}

// Whether any file below holds the text: tables, write-ahead log, server's and control's logs. Text
// in a table stands there as it is, which a dump would hide in hexadecimal.
std::string FileThatHolds(const std::string& directory, const std::string& text) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    if (file.is_regular_file() && file.path().filename() != "operator.yaml" &&
        ReadFile(file.path()).find(text) != std::string::npos) {
      return file.path();
    }
  }
  return "";
}

TEST_F(ControlAccess, SecretsAreInNoTableAndNoLog) {
  Login("alice", Org("reseller"), "role: OPERATOR");
  const std::string text = "token_id: '" + Id("ci") + "' token { operator: 'operators/" +
                           Id("alice") + "' } request_id: '" + Id("request") + "'";
  const auto made = Do("Token", "CreateToken", text);
  const std::string secret = static_cast<const v1::Token&>(*made).secret();
  ASSERT_GT(secret.size(), 40U);
  EXPECT_EQ(static_cast<const v1::Token&>(*Do("Token", "CreateToken", text)).secret(), "");
  EXPECT_EQ(Call(As(secret), "Farm", "ListFarms", "").error_code(), StatusCode::OK);
  EXPECT_NE(FileThatHolds(control_.directory(), "tokens/" + Id("ci")), "") << "the search works";
  EXPECT_EQ(FileThatHolds(control_.directory(), secret.substr(6)), "");
  EXPECT_EQ(FileThatHolds(control_.directory(), control_.token().substr(6)), "");
  EXPECT_EQ(ReadFile(control_.directory() + ".log").find(secret), std::string::npos);
}

}  // namespace
}  // namespace croft::tests
