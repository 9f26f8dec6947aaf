#pragma once

#include <span>
#include <string>
#include <string_view>

namespace firn::planner {

struct Point {
  double x = 0;
  double y = 0;
};

/// Left upper corner and size, in pixels.
struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// Shapes one after another, as SVG. How they look is told by the CSS classes. Text is
/// escaped; what XML cannot hold is not looked for (labels.h, Printable).
class SvgCanvas {
 public:
  /// `tooltip` is shown by browsers; none if empty.
  void DrawBox(const Box& box, std::string_view classes, std::string_view tooltip = "");
  void DrawLine(Point from, Point to, std::string_view classes);
  void DrawArea(std::span<const Point> corners, std::string_view classes);
  /// At the left end of the base line, or where `classes` say that the text is anchored.
  void DrawText(Point at, std::string_view classes, std::string_view text);

  /// What was drawn on another canvas, over all that is here.
  void Append(const SvgCanvas& other) { shapes_ += other.shapes_; }

  /// The document, of this size. `title` and `style` (CSS) stand in it as they are told.
  std::string Finish(double width, double height, std::string_view title,
                     std::string_view style) &&;

 private:
  std::string shapes_;
};

}  // namespace firn::planner
