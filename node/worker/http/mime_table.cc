// The built-in media types by subject, one line each; merged and sorted by the compiler.
#include <algorithm>
#include <array>

#include "node/worker/http/mime_types.h"

namespace croft::node::worker::http {
namespace {

// clang-format off
// Text and mail. Their bytes are taken for UTF-8; a page of HTML says itself what its are.
constexpr MimeEntry kText[] = {
    {"eml", "message/rfc822"},
    {"mht", "message/rfc822"},
    {"mhtml", "message/rfc822"},
    {"ics", "text/calendar; charset=utf-8"},
    {"ifb", "text/calendar; charset=utf-8"},
    {"css", "text/css; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"shtml", "text/html"},
    {"js", "text/javascript; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"markdown", "text/markdown; charset=utf-8"},
    {"md", "text/markdown; charset=utf-8"},
    {"mml", "text/mathml; charset=utf-8"},
    {"asc", "text/plain; charset=utf-8"},
    {"conf", "text/plain; charset=utf-8"},
    {"diff", "text/plain; charset=utf-8"},
    {"ini", "text/plain; charset=utf-8"},
    {"log", "text/plain; charset=utf-8"},
    {"patch", "text/plain; charset=utf-8"},
    {"text", "text/plain; charset=utf-8"},
    {"txt", "text/plain; charset=utf-8"},
    {"rtx", "text/richtext; charset=utf-8"},
    {"sgm", "text/sgml; charset=utf-8"},
    {"sgml", "text/sgml; charset=utf-8"},
    {"tsv", "text/tab-separated-values; charset=utf-8"},
    {"man", "text/troff; charset=utf-8"},
    {"vcard", "text/vcard; charset=utf-8"},
    {"vcf", "text/vcard; charset=utf-8"},
    {"gv", "text/vnd.graphviz; charset=utf-8"},
    {"jad", "text/vnd.sun.j2me.app-descriptor; charset=utf-8"},
    {"wml", "text/vnd.wap.wml; charset=utf-8"},
    {"vtt", "text/vtt; charset=utf-8"},
    {"c", "text/x-c; charset=utf-8"},
    {"cc", "text/x-c; charset=utf-8"},
    {"cpp", "text/x-c; charset=utf-8"},
    {"cxx", "text/x-c; charset=utf-8"},
    {"h", "text/x-c; charset=utf-8"},
    {"hh", "text/x-c; charset=utf-8"},
    {"hpp", "text/x-c; charset=utf-8"},
    {"htc", "text/x-component; charset=utf-8"},
    {"java", "text/x-java-source; charset=utf-8"},
    {"py", "text/x-python; charset=utf-8"},
    {"rst", "text/x-rst; charset=utf-8"},
    {"sh", "text/x-sh; charset=utf-8"},
    {"rng", "text/xml; charset=utf-8"},
    {"xml", "text/xml; charset=utf-8"},
    {"xsd", "text/xml; charset=utf-8"},
    {"xsl", "text/xml; charset=utf-8"},
};

// Images.
constexpr MimeEntry kImages[] = {
    {"apng", "image/apng"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"gif", "image/gif"},
    {"heic", "image/heic"},
    {"heif", "image/heif"},
    {"jfif", "image/jpeg"},
    {"jpe", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"jxl", "image/jxl"},
    {"png", "image/png"},
    {"svg", "image/svg+xml"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"psd", "image/vnd.adobe.photoshop"},
    {"djv", "image/vnd.djvu"},
    {"djvu", "image/vnd.djvu"},
    {"wbmp", "image/vnd.wap.wbmp"},
    {"webp", "image/webp"},
    {"ico", "image/x-icon"},
    {"pnm", "image/x-portable-anymap"},
    {"pbm", "image/x-portable-bitmap"},
    {"pgm", "image/x-portable-graymap"},
    {"ppm", "image/x-portable-pixmap"},
    {"xbm", "image/x-xbitmap"},
    {"xcf", "image/x-xcf"},
    {"xpm", "image/x-xpixmap"},
};

// Sound.
constexpr MimeEntry kSound[] = {
    {"aac", "audio/aac"},
    {"au", "audio/basic"},
    {"snd", "audio/basic"},
    {"flac", "audio/flac"},
    {"kar", "audio/midi"},
    {"mid", "audio/midi"},
    {"midi", "audio/midi"},
    {"m4a", "audio/mp4"},
    {"mp2", "audio/mpeg"},
    {"mp3", "audio/mpeg"},
    {"mpga", "audio/mpeg"},
    {"oga", "audio/ogg"},
    {"ogg", "audio/ogg"},
    {"opus", "audio/ogg"},
    {"wav", "audio/wav"},
    {"weba", "audio/webm"},
    {"aif", "audio/x-aiff"},
    {"aiff", "audio/x-aiff"},
    {"m3u", "audio/x-mpegurl"},
    {"wma", "audio/x-ms-wma"},
    {"ra", "audio/x-realaudio"},
};

// Video.
constexpr MimeEntry kVideo[] = {
    {"3gp", "video/3gpp"},
    {"3gpp", "video/3gpp"},
    {"3g2", "video/3gpp2"},
    {"m2ts", "video/mp2t"},
    {"ts", "video/mp2t"},
    {"m4v", "video/mp4"},
    {"mp4", "video/mp4"},
    {"mpe", "video/mpeg"},
    {"mpeg", "video/mpeg"},
    {"mpg", "video/mpeg"},
    {"ogv", "video/ogg"},
    {"mov", "video/quicktime"},
    {"qt", "video/quicktime"},
    {"webm", "video/webm"},
    {"flv", "video/x-flv"},
    {"mkv", "video/x-matroska"},
    {"asf", "video/x-ms-asf"},
    {"asx", "video/x-ms-asf"},
    {"wmv", "video/x-ms-wmv"},
    {"avi", "video/x-msvideo"},
};

// Fonts and 3-D models.
constexpr MimeEntry kFontsAndModels[] = {
    {"ttc", "font/collection"},
    {"otf", "font/otf"},
    {"ttf", "font/ttf"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"gltf", "model/gltf+json"},
    {"glb", "model/gltf-binary"},
    {"obj", "model/obj"},
    {"stl", "model/stl"},
    {"vrml", "model/vrml"},
    {"wrl", "model/vrml"},
};

// Documents to print or edit.
constexpr MimeEntry kDocuments[] = {
    {"epub", "application/epub+zip"},
    {"doc", "application/msword"},
    {"dot", "application/msword"},
    {"pdf", "application/pdf"},
    {"ai", "application/postscript"},
    {"eps", "application/postscript"},
    {"ps", "application/postscript"},
    {"rtf", "application/rtf"},
    {"xls", "application/vnd.ms-excel"},
    {"xlt", "application/vnd.ms-excel"},
    {"chm", "application/vnd.ms-htmlhelp"},
    {"pot", "application/vnd.ms-powerpoint"},
    {"pps", "application/vnd.ms-powerpoint"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"odf", "application/vnd.oasis.opendocument.formula"},
    {"odg", "application/vnd.oasis.opendocument.graphics"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"ppsx", "application/vnd.openxmlformats-officedocument.presentationml.slideshow"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"dotx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template"},
    {"vsd", "application/vnd.visio"},
    {"hlp", "application/winhlp"},
    {"dvi", "application/x-dvi"},
    {"latex", "application/x-latex"},
    {"mobi", "application/x-mobipocket-ebook"},
    {"pub", "application/x-mspublisher"},
    {"tex", "application/x-tex"},
    {"texi", "application/x-texinfo"},
    {"texinfo", "application/x-texinfo"},
};

// Archives and packages.
constexpr MimeEntry kArchives[] = {
    {"gz", "application/gzip"},
    {"tgz", "application/gzip"},
    {"ear", "application/java-archive"},
    {"jar", "application/java-archive"},
    {"war", "application/java-archive"},
    {"hqx", "application/mac-binhex40"},
    {"apk", "application/vnd.android.package-archive"},
    {"deb", "application/vnd.debian.binary-package"},
    {"cab", "application/vnd.ms-cab-compressed"},
    {"rar", "application/vnd.rar"},
    {"7z", "application/x-7z-compressed"},
    {"dmg", "application/x-apple-diskimage"},
    {"bz2", "application/x-bzip2"},
    {"cpio", "application/x-cpio"},
    {"iso", "application/x-iso9660-image"},
    {"lz", "application/x-lzip"},
    {"srpm", "application/x-redhat-package-manager"},
    {"rpm", "application/x-rpm"},
    {"sit", "application/x-stuffit"},
    {"tar", "application/x-tar"},
    {"txz", "application/x-xz"},
    {"xz", "application/x-xz"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};

// Programs and other bytes.
constexpr MimeEntry kPrograms[] = {
    {"bin", "application/octet-stream"},
    {"com", "application/octet-stream"},
    {"img", "application/octet-stream"},
    {"so", "application/octet-stream"},
    {"wasm", "application/wasm"},
    {"torrent", "application/x-bittorrent"},
    {"crx", "application/x-chrome-extension"},
    {"jnlp", "application/x-java-jnlp-file"},
    {"dll", "application/x-msdownload"},
    {"exe", "application/x-msdownload"},
    {"msi", "application/x-msi"},
    {"pl", "application/x-perl"},
    {"pm", "application/x-perl"},
    {"swf", "application/x-shockwave-flash"},
    {"xpi", "application/x-xpinstall"},
};

// What pages and programs read: scripts, feeds, maps, keys.
constexpr MimeEntry kWebAndData[] = {
    {"atom", "application/atom+xml"},
    {"mpd", "application/dash+xml"},
    {"geojson", "application/geo+json"},
    {"gpx", "application/gpx+xml"},
    {"json", "application/json"},
    {"map", "application/json"},
    {"jsonld", "application/ld+json"},
    {"webmanifest", "application/manifest+json"},
    {"sig", "application/pgp-signature"},
    {"p10", "application/pkcs10"},
    {"p7c", "application/pkcs7-mime"},
    {"p7m", "application/pkcs7-mime"},
    {"owl", "application/rdf+xml"},
    {"rdf", "application/rdf+xml"},
    {"rss", "application/rss+xml"},
    {"sql", "application/sql"},
    {"toml", "application/toml"},
    {"m3u8", "application/vnd.apple.mpegurl"},
    {"kml", "application/vnd.google-earth.kml+xml"},
    {"kmz", "application/vnd.google-earth.kmz"},
    {"eot", "application/vnd.ms-fontobject"},
    {"pac", "application/x-ns-proxy-autoconfig"},
    {"pem", "application/x-pem-file"},
    {"sqlite", "application/x-sqlite3"},
    {"crt", "application/x-x509-ca-cert"},
    {"der", "application/x-x509-ca-cert"},
    {"xht", "application/xhtml+xml"},
    {"xhtml", "application/xhtml+xml"},
    {"dtd", "application/xml-dtd"},
    {"xslt", "application/xslt+xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
};

// clang-format on

template <std::size_t... kSizes>
constexpr auto Merge(const MimeEntry (&... tables)[kSizes]) {
  std::array<MimeEntry, (kSizes + ...)> merged{};
  std::size_t next = 0;
  const auto add = [&](const auto& table) {
    for (const MimeEntry& entry : table) {
      merged[next++] = entry;
    }
  };
  (add(tables), ...);
  std::sort(merged.begin(), merged.end(),
            [](const MimeEntry& a, const MimeEntry& b) { return a.extension < b.extension; });
  return merged;
}

constexpr auto kTable = Merge(kText, kImages, kSound, kVideo, kFontsAndModels, kDocuments,
                              kArchives, kPrograms, kWebAndData);

}  // namespace

std::span<const MimeEntry> BuiltInMimeTypes() { return kTable; }

}  // namespace croft::node::worker::http
