// Two orders of text: files are sorted by code point (Merkle rule 4), keys of canonical JSON by UTF-16 code unit. They
// differ when U+E000..U+FFFF is compared with characters beyond U+FFFF.

export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

export function compareUtf16(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export function sortedByFilename<T extends { filename: string }>(files: readonly T[]): T[] {
  return [...files].sort((a, b) => compareCodePoints(a.filename, b.filename))
}

/** Orders surrogates, which encode code points above U+FFFF, after every other code unit. */
function rank(codeUnit: number): number {
  if (codeUnit < 0xd800) return codeUnit
  return codeUnit < 0xe000 ? codeUnit + 0x2000 : codeUnit - 0x800
}
