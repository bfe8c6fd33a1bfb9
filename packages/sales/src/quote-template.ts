// Quotes for the same order at the same rates differ only in their id and their time. A template is such a quote as text,
// with placeholders for those, so that the next quote is made without serializing it again.

import { isoSeconds } from '@svc/protocol/evidence'
import { paymentReference } from '@svc/protocol/ids'
import { type AnyQuote, headerText, type QuoteId } from './quote.ts'

/** The id and time that a template's quote is made with: an id that is never issued, and the last second of year 9999. */
export const PLACEHOLDER: QuoteId = { payReqId: `pr_${'0'.repeat(32)}`, expiresAt: 253_402_300_799 }

export interface QuoteTemplate {
  body: readonly Piece[]
  header: readonly Piece[]
}

type Placeholder = keyof ReturnType<typeof placeholderTexts>

interface Piece {
  text: string
  /** What follows the text; null after the last piece. */
  placeholder: Placeholder | null
}

/** The quote must be made with `PLACEHOLDER`. */
export function quoteTemplate(quote: AnyQuote): QuoteTemplate {
  return { body: piecesOf(JSON.stringify(quote)), header: piecesOf(headerText(quote)) }
}

export function fillTemplate({ body, header }: QuoteTemplate, id: QuoteId): { body: string; header: string } {
  const texts = placeholderTexts(id)
  return { body: fill(body, texts), header: fill(header, texts) }
}

/** Every text in a quote that depends on its id or time. */
function placeholderTexts({ payReqId, expiresAt }: QuoteId) {
  const reference = paymentReference(payReqId)
  return { payReqId, reference, referenceHex: Buffer.from(reference).toString('hex'), expires: isoSeconds(expiresAt) }
}

const TEXTS = new Map(Object.entries(placeholderTexts(PLACEHOLDER)).map(([name, text]) => [text, name as Placeholder]))
const ANY_PLACEHOLDER = new RegExp(`(${[...TEXTS.keys()].join('|')})`)

function piecesOf(text: string): Piece[] {
  // Splitting by a capture group makes every second part a match of the group.
  const parts = text.split(ANY_PLACEHOLDER)
  return parts.flatMap((part, i) =>
    i % 2 === 0 ? { text: part, placeholder: TEXTS.get(parts[i + 1] ?? '') ?? null } : [],
  )
}

function fill(pieces: readonly Piece[], texts: Record<Placeholder, string>): string {
  let filled = ''
  for (const { text, placeholder } of pieces) filled += placeholder ? text + texts[placeholder] : text
  return filled
}
