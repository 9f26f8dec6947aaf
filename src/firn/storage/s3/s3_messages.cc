#include "firn/storage/s3/s3_messages.h"

#include <sstream>

#include <pugixml.hpp>

#include "firn/core/whole_number.h"
#include "firn/storage/s3/uri.h"
#include "firn/storage/s3/utc_time.h"

namespace firn::storage::s3 {
namespace {

Status Unreadable(std::string_view what) {
  return Error(ErrorKind::kCorruption, "the server's answer {}", what);
}

/// Element names come with the prefix that the document gives its namespace, if any.
std::string_view LocalName(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  return name.substr(name.find(':') + 1);
}

/// Parses `xml` into `document`.
Result<pugi::xml_node> Root(pugi::xml_document& document, std::string_view xml) {
  const pugi::xml_parse_result parsed = document.load_buffer(
      xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) return Unreadable(fmt::format("is no XML: {}", parsed.description()));
  return document.document_element();
}

Result<pugi::xml_node> RootNamed(pugi::xml_document& document, std::string_view xml,
                                 std::string_view name) {
  FIRN_ASSIGN_OR_RETURN(pugi::xml_node root, Root(document, xml));
  if (LocalName(root) == name) return root;
  return Unreadable(fmt::format("is no {}", name));
}

/// An empty node if there is none.
pugi::xml_node FindNode(const pugi::xml_node& node, std::string_view name) {
  for (const pugi::xml_node& child : node.children()) {
    if (LocalName(child) == name) return child;
  }
  return {};
}

std::optional<std::string> FindChild(const pugi::xml_node& node, std::string_view name) {
  const pugi::xml_node child = FindNode(node, name);
  if (child.empty()) return std::nullopt;
  return child.text().get();
}

Result<std::string> Child(const pugi::xml_node& node, std::string_view name) {
  if (auto text = FindChild(node, name); text.has_value()) return *std::move(text);
  return Unreadable(fmt::format("has a {} without {}", LocalName(node), name));
}

Result<ObjectInfo> ObjectOf(const pugi::xml_node& contents) {
  ObjectInfo object;
  FIRN_ASSIGN_OR_RETURN(const std::string key, Child(contents, "Key"));
  FIRN_ASSIGN_OR_RETURN(object.key, DecodeUri(key));
  FIRN_ASSIGN_OR_RETURN(const std::string size, Child(contents, "Size"));
  const auto size_bytes = ParseWholeNumber<std::int64_t>(size);
  if (!size_bytes || *size_bytes < 0) {
    return Unreadable(fmt::format("has a Size that is none: {:?}", size));
  }
  object.size_bytes = *size_bytes;
  FIRN_ASSIGN_OR_RETURN(const std::string modified, Child(contents, "LastModified"));
  FIRN_ASSIGN_OR_RETURN(const WallTime time, ParseUtcTime(modified));
  object.modified_us = time.time_since_epoch().count();
  return object;
}

}  // namespace

Result<ErrorMessage> ParseError(std::string_view xml) {
  pugi::xml_document document;
  FIRN_ASSIGN_OR_RETURN(const pugi::xml_node root, Root(document, xml));
  const bool is_response = LocalName(root) == "ErrorResponse";
  const pugi::xml_node inner = is_response ? FindNode(root, "Error") : root;
  if (LocalName(inner) != "Error") return Unreadable("is no Error");
  ErrorMessage error;
  FIRN_ASSIGN_OR_RETURN(error.code, Child(inner, "Code"));
  error.message = FindChild(inner, "Message").value_or("");
  error.request_id = FindChild(root, "RequestId").value_or("");
  return error;
}

Result<ListPage> ParseListPage(std::string_view xml) {
  pugi::xml_document document;
  FIRN_ASSIGN_OR_RETURN(const pugi::xml_node root,
                        RootNamed(document, xml, "ListBucketResult"));
  ListPage page;
  for (const pugi::xml_node& child : root.children()) {
    if (LocalName(child) != "Contents") continue;
    FIRN_ASSIGN_OR_RETURN(ObjectInfo object, ObjectOf(child));
    page.objects.push_back(std::move(object));
  }
  FIRN_ASSIGN_OR_RETURN(const std::string truncated, Child(root, "IsTruncated"));
  if (truncated == "false") return page;
  if (truncated != "true") {
    return Unreadable(fmt::format("has an IsTruncated that is none: {:?}", truncated));
  }
  FIRN_ASSIGN_OR_RETURN(page.next_token, Child(root, "NextContinuationToken"));
  // It would be read as the last page.
  if (page.next_token.empty()) return Unreadable("has an empty NextContinuationToken");
  return page;
}

Result<std::string> ParseUploadId(std::string_view xml) {
  pugi::xml_document document;
  FIRN_ASSIGN_OR_RETURN(const pugi::xml_node root,
                        RootNamed(document, xml, "InitiateMultipartUploadResult"));
  FIRN_ASSIGN_OR_RETURN(std::string id, Child(root, "UploadId"));
  if (id.empty()) return Unreadable("has an empty UploadId");
  return id;
}

bool SaysComplete(std::string_view xml) {
  pugi::xml_document document;
  return RootNamed(document, xml, "CompleteMultipartUploadResult").ok();
}

Result<Credentials> ParseAssumedRole(std::string_view xml) {
  pugi::xml_document document;
  FIRN_ASSIGN_OR_RETURN(const pugi::xml_node root,
                        RootNamed(document, xml, "AssumeRoleWithWebIdentityResponse"));
  const pugi::xml_node given =
      FindNode(FindNode(root, "AssumeRoleWithWebIdentityResult"), "Credentials");
  Credentials credentials;
  FIRN_ASSIGN_OR_RETURN(credentials.access_key_id, Child(given, "AccessKeyId"));
  FIRN_ASSIGN_OR_RETURN(credentials.secret_access_key, Child(given, "SecretAccessKey"));
  FIRN_ASSIGN_OR_RETURN(credentials.session_token, Child(given, "SessionToken"));
  FIRN_ASSIGN_OR_RETURN(const std::string expiration, Child(given, "Expiration"));
  FIRN_ASSIGN_OR_RETURN(credentials.expires, ParseUtcTime(expiration));
  return credentials;
}

std::string CompletionText(const std::vector<std::string>& etags) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("CompleteMultipartUpload");
  int number = 0;
  for (const std::string& etag : etags) {
    pugi::xml_node part = root.append_child("Part");
    part.append_child("PartNumber").text().set(++number);
    part.append_child("ETag").text().set(etag.c_str());
  }
  std::ostringstream text;
  document.save(text, "", pugi::format_raw | pugi::format_no_declaration);
  return text.str();
}

}  // namespace firn::storage::s3
