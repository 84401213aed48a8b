// Where a request's file is: a root relative to its store, and a path below the root. Made by one
// function, which is fuzzed. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace croft::node::worker::store {

// Both relative, without empty, "." and ".." segments and without NUL; "" is the store,
// respectively the root, itself.
struct ContentPath {
  std::string root;
  std::string below;
};

// `path` is the normalised URL path, of which the mount takes the first `strip` bytes. A trailing
// "/" of `path` is dropped. nullopt when root, path or strip cannot come from a listener of ours.
std::optional<ContentPath> MakeContentPath(std::string_view root, std::string_view path,
                                           std::size_t strip);

}  // namespace croft::node::worker::store
