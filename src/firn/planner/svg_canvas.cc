#include "firn/planner/svg_canvas.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace firn::planner {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

/// A tenth of a pixel is enough; whole pixels without a fraction.
std::string Number(double value) {
  const double tenths = std::round(value * 10);
  if (std::fmod(tenths, 10) == 0) return fmt::format("{:.0f}", tenths / 10);
  return fmt::format("{:.1f}", tenths / 10);
}

}  // namespace

void SvgCanvas::DrawBox(const Box& box, std::string_view classes,
                        std::string_view tooltip) {
  shapes_ += fmt::format(
      R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="2")", classes,
      Number(box.x), Number(box.y), Number(box.width), Number(box.height));
  shapes_ += tooltip.empty()
                 ? "/>\n"
                 : fmt::format("><title>{}</title></rect>\n", Escaped(tooltip));
}

void SvgCanvas::DrawLine(Point from, Point to, std::string_view classes) {
  shapes_ += fmt::format(R"(<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>)", classes,
                         Number(from.x), Number(from.y), Number(to.x), Number(to.y)) +
             "\n";
}

void SvgCanvas::DrawArea(std::span<const Point> corners, std::string_view classes) {
  std::string points;
  for (const Point& corner : corners) {
    if (!points.empty()) points += ' ';
    points += Number(corner.x) + "," + Number(corner.y);
  }
  shapes_ += fmt::format(R"(<polygon class="{}" points="{}"/>)", classes, points) + "\n";
}

void SvgCanvas::DrawText(Point at, std::string_view classes, std::string_view text) {
  shapes_ += fmt::format(R"(<text class="{}" x="{}" y="{}">{}</text>)", classes,
                         Number(at.x), Number(at.y), Escaped(text)) +
             "\n";
}

std::string SvgCanvas::Finish(double width, double height, std::string_view title,
                              std::string_view style) && {
  std::string document = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n",
      Number(width), Number(height), Escaped(title));
  document += fmt::format("<style>{}</style>\n", style);
  document += R"(<rect class="paper" width="100%" height="100%"/>)";
  return document + "\n" + std::move(shapes_) + "</svg>\n";
}

}  // namespace firn::planner
