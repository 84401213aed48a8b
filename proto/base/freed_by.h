// The deleter of a C library's object: std::unique_ptr<X509, FreedBy<X509_free>>.
#pragma once

namespace croft {

template <auto kFree>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

}  // namespace croft
