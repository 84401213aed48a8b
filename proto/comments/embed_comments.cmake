# cmake -DINPUT=FILE -DOUTPUT=FILE.cc -P embed_comments.cmake: the bytes of a file as a C++ array.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"proto/comments/api_comments.h\"

namespace croft::comments {
namespace {

constexpr unsigned char kBytes[] = {
${bytes}};

}  // namespace

std::span<const unsigned char> CommentedApi() { return kBytes; }

}  // namespace croft::comments
")
