// SPDX-License-Identifier: Apache-2.0
//
// Where the sections of an image lie that rush_open() has accepted.
#ifndef RUSHLIGHT_IMAGE_ACCESS_H
#define RUSHLIGHT_IMAGE_ACCESS_H

#include "rushlight/image.h"

namespace rush {

inline const ImageSection& section(const uint8_t* image, SectionKind kind) {
  return reinterpret_cast<const ImageSection*>(image + sizeof(ImageHeader))[static_cast<uint32_t>(kind) - 1];
}

template <class T>
inline const T* elements(const uint8_t* image, SectionKind kind) {
  return reinterpret_cast<const T*>(image + section(image, kind).offset);
}

}  // namespace rush
#endif
