#include "tests/bench/clients.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace croft::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string FirstLine(const std::string& path) {
  const std::string text = Read(path);
  return text.substr(0, text.find('\n'));
}

}  // namespace

Target ReadTarget(const std::string& directory) {
  const std::string contexts = Read(directory + "/operator.yaml");
  std::size_t begin = contexts.find("token: ") + 7;
  begin += contexts[begin] == '"' ? 1 : 0;
  return {.grpc_address = FirstLine(directory + "/listen"),
          .json_address = FirstLine(directory + "/json-listen"),
          .ca = Read(directory + "/ca.crt"),
          .token = contexts.substr(begin, contexts.find_first_of("\"\n", begin) - begin)};
}

std::shared_ptr<grpc::Channel> ConnectGrpc(const Target& target) {
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = target.ca;
  grpc::ChannelArguments apart;
  apart.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(target.grpc_address, grpc::SslCredentials(tls), apart);
}

void Measure(const char* label, int clients, double seconds,
             const std::function<Request(int)>& connect) {
  std::vector<std::vector<double>> micros(static_cast<std::size_t>(clients));
  std::vector<std::jthread> threads;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&mine = micros[static_cast<std::size_t>(i)], &connect, end, i] {
      const Request request = connect(i);
      request();
      for (auto begin = Clock::now(); begin < end;) {
        if (!request()) {
          std::fputs("a request failed\n", stderr);
          std::exit(1);
        }
        const auto now = Clock::now();
        mine.push_back(std::chrono::duration<double, std::micro>(now - begin).count());
        begin = now;
      }
    });
  }
  threads.clear();
  std::vector<double> all;
  for (const auto& mine : micros) {
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::ranges::sort(all);
  const auto at = [&all](std::size_t percent) { return all[all.size() * percent / 100]; };
  fmt::print("{} {} {:.0f} {:.0f} {:.0f}\n", label, clients,
             static_cast<double>(all.size()) / seconds, at(50), at(99));
}

}  // namespace croft::bench
