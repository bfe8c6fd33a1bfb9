import { renderUnicodeCompact } from 'uqr'

/** A QR code of half blocks, for terminals. */
export function qrText(text: string): string {
  return renderUnicodeCompact(text, { border: 2 })
}
