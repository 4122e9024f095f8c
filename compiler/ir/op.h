// SPDX-License-Identifier: Apache-2.0
//
// An operator in the graph: a plain attribute struct held by value, type-erased so that the graph does not know
// the operators. An attribute struct looks like
//
//   struct Clamp {
//     static constexpr std::string_view kName = "clamp";
//     double min = -INFINITY, max = INFINITY;
//     bool operator==(const Clamp&) const = default;
//     template <class V> void visit(V& v) { v("min", min); v("max", max); }   // printing, parsing
//   };
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace rush {

/// What an attribute can be. The printer and the parser are the two visitors.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void operator()(std::string_view name, int64_t& value) = 0;
  virtual void operator()(std::string_view name, double& value) = 0;
  virtual void operator()(std::string_view name, bool& value) = 0;
  virtual void operator()(std::string_view name, std::string& value) = 0;
  virtual void operator()(std::string_view name, std::vector<int64_t>& value) = 0;
};

class Op {
 public:
  Op() = default;
  template <class T>
    requires requires { T::kName; }
  Op(T attributes) : held_(std::make_shared<Held<T>>(std::move(attributes))) {}

  std::string_view name() const { return held_ ? held_->name() : std::string_view(); }

  /// The attributes if this is a T, else null.
  template <class T>
  const T* as() const {
    return held_ && held_->type() == typeid(T) ? &static_cast<const Held<T>&>(*held_).attributes : nullptr;
  }
  template <class T>
  bool is() const {
    return as<T>() != nullptr;
  }

  /// Copies the attributes, lets the visitor read or change each, returns the copy.
  Op visited(FieldVisitor& visitor) const { return held_ ? held_->visited(visitor) : Op(); }

  bool operator==(const Op& other) const {
    if (!held_ || !other.held_) return held_ == other.held_;
    return held_->equals(*other.held_);
  }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual std::string_view name() const = 0;
    virtual const std::type_info& type() const = 0;
    virtual bool equals(const Base& other) const = 0;
    virtual Op visited(FieldVisitor& visitor) const = 0;
  };
  template <class T>
  struct Held final : Base {
    explicit Held(T a) : attributes(std::move(a)) {}
    std::string_view name() const override { return T::kName; }
    const std::type_info& type() const override { return typeid(T); }
    bool equals(const Base& other) const override {
      return other.type() == typeid(T) && static_cast<const Held<T>&>(other).attributes == attributes;
    }
    Op visited(FieldVisitor& visitor) const override {
      T copy = attributes;
      copy.visit(visitor);
      return Op(std::move(copy));
    }
    T attributes;
  };
  std::shared_ptr<const Base> held_;
};

}  // namespace rush
