// The process's own log: one event, one line, key=value, on stderr. Fixed keys: rev node site pool
// req err. Thread-safe. What a client can trigger at will is a counter and at most Debug.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace croft::log {

enum class Level { kDebug, kInfo, kWarn, kError };

struct Field {
  std::string_view key;
  std::string value;
};

// `component` is the folder ("feed", "launcher"); `message` a constant sentence, what varies goes
// into fields.
void Write(Level level, std::string_view component, std::string_view message,
           std::initializer_list<Field> fields = {}, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

// Least level that is written; the default is Info, or the environment's CROFT_LOG (debug, info,
// warn, error).
void SetLevel(Level level);

inline void Debug(std::string_view component, std::string_view message,
                  std::initializer_list<Field> fields = {}, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  Write(Level::kDebug, component, message, fields, file, line);
}
// Rare lifecycle.
inline void Info(std::string_view component, std::string_view message,
                 std::initializer_list<Field> fields = {}, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  Write(Level::kInfo, component, message, fields, file, line);
}
// Someone will have to act.
inline void Warn(std::string_view component, std::string_view message,
                 std::initializer_list<Field> fields = {}, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  Write(Level::kWarn, component, message, fields, file, line);
}
// Someone must act.
inline void Error(std::string_view component, std::string_view message,
                  std::initializer_list<Field> fields = {}, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  Write(Level::kError, component, message, fields, file, line);
}

}  // namespace croft::log
