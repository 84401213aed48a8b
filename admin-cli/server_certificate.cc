#include "admin-cli/server_certificate.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <chrono>
#include <ctime>
#include <memory>

#include "proto/base/freed_by.h"

namespace croft::admin_cli {
namespace {

constexpr int kTimeoutSeconds = 3;

using BioPtr = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using ContextPtr = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, FreedBy<SSL_free>>;
using X509Ptr = std::unique_ptr<X509, FreedBy<X509_free>>;

X509Ptr ReadCertificate(const std::string& pem) {
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return X509Ptr(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

BioPtr ConnectTo(const std::string& address) {
  BioPtr connection(BIO_new_connect(address.c_str()));
  if (connection == nullptr || BIO_do_connect_retry(connection.get(), kTimeoutSeconds, 0) != 1) {
    return nullptr;
  }
  int fd = -1;
  BIO_get_fd(connection.get(), &fd);
  BIO_socket_nbio(fd, 0);  // it was not to wait for the connection; from here its time-outs hold
  const timeval patience{.tv_sec = kTimeoutSeconds, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return connection;
}

// The certificate of who listens there; null if that cannot be had.
X509Ptr FetchCertificate(const std::string& address) {
  const ContextPtr context(SSL_CTX_new(TLS_client_method()));
  BioPtr connection = ConnectTo(address);
  if (context == nullptr || connection == nullptr) {
    return nullptr;
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  const SslPtr tls(SSL_new(context.get()));
  if (tls == nullptr) {
    return nullptr;
  }
  BIO* const socket = connection.release();
  SSL_set_bio(tls.get(), socket, socket);  // the TLS connection's now
  static_cast<void>(SSL_connect(tls.get()));
  return X509Ptr(SSL_get1_peer_certificate(tls.get()));
}

std::string Text(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", parts);
}

}  // namespace

std::optional<std::string> WrongDates(const std::string& address, const std::string& ca) {
  const X509Ptr shown = FetchCertificate(address);
  const X509Ptr authority = ReadCertificate(ca);
  if (shown == nullptr || authority == nullptr) {
    return std::nullopt;
  }
  const std::string now =
      fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::now()));
  if (X509_cmp_current_time(X509_get0_notAfter(authority.get())) < 0) {
    return fmt::format(
        "the certificate authority of this context expired on {} (the clock here says {}); set the "
        "clock if it is wrong, else give the context the ca.crt of that control's data directory",
        Text(X509_get0_notAfter(authority.get())), now);
  }
  if (X509_cmp_current_time(X509_get0_notAfter(shown.get())) < 0) {
    return fmt::format(
        "its certificate expired on {} (the clock here says {}); set the clock if it is wrong, "
        "else start croft-control again: it makes itself a new certificate",
        Text(X509_get0_notAfter(shown.get())), now);
  }
  if (X509_cmp_current_time(X509_get0_notBefore(shown.get())) > 0) {
    return fmt::format(
        "its certificate is not valid before {} (the clock here says {}); set the clock that is "
        "wrong, here or there, and after one there start croft-control again",
        Text(X509_get0_notBefore(shown.get())), now);
  }
  return std::nullopt;
}

}  // namespace croft::admin_cli
