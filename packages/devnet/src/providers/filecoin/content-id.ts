// Content ids as text and as bytes: base32 in lower case, after a `b`.

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'

export function writeContentId(bytes: Uint8Array): string {
  let bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  bits = bits.padEnd(Math.ceil(bits.length / 5) * 5, '0')
  const letters = bits.match(/.{5}/g) ?? []
  return `b${letters.map((five) => LETTERS[Number.parseInt(five, 2)]).join('')}`
}

/** Null when it is none. */
export function readContentId(text: string): Uint8Array | null {
  if (!/^b[a-z2-7]+$/.test(text)) return null
  const bits = [...text.slice(1)].map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (eight) => Number.parseInt(eight, 2))
}
