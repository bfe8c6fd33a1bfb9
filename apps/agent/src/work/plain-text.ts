const LONGEST = 500

/** Foreign words as both databases can keep them and the canonical form can write them. */
export function plainText(text: string): string {
  return text.replaceAll('\0', '').slice(0, LONGEST).toWellFormed()
}
