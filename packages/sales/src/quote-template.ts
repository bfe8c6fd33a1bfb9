// Quotes for the same order at the same rates differ in their id and their time alone. A form is such a quote with
// blanks in their place.

import { isoSeconds } from '@svc/protocol/evidence'
import { type AnyQuote, headerText, type QuoteId } from './quote.ts'

/** What the quote of a form is made with: an id that is never drawn, and the last second that has a text. */
export const BLANK: QuoteId = { payReqId: `pr_${'0'.repeat(32)}`, expiresAt: 253_402_300_799 }

export interface QuoteForm {
  body: readonly Piece[]
  header: readonly Piece[]
}

type Blank = keyof ReturnType<typeof blankTexts>

interface Piece {
  text: string
  /** What follows the text; nothing after the last. */
  blank: Blank | null
}

/** Of a quote that was made with `BLANK`. */
export function quoteForm(quote: AnyQuote): QuoteForm {
  return { body: piecesOf(JSON.stringify(quote)), header: piecesOf(headerText(quote)) }
}

export function filledIn({ body, header }: QuoteForm, id: QuoteId): { body: string; header: string } {
  const texts = blankTexts(id)
  return { body: filled(body, texts), header: filled(header, texts) }
}

/** All that a quote tells of its id and its time. */
function blankTexts({ payReqId, expiresAt }: QuoteId) {
  return { payReqId, payReqIdHex: Buffer.from(payReqId).toString('hex'), expires: isoSeconds(expiresAt) }
}

const BLANKS = new Map(Object.entries(blankTexts(BLANK)).map(([name, text]) => [text, name as Blank]))
const ANY_BLANK = new RegExp(`(${[...BLANKS.keys()].join('|')})`)

function piecesOf(text: string): Piece[] {
  // Split by a group, every second part is what the group matched.
  const parts = text.split(ANY_BLANK)
  return parts.flatMap((part, i) => (i % 2 === 0 ? { text: part, blank: BLANKS.get(parts[i + 1] ?? '') ?? null } : []))
}

function filled(pieces: readonly Piece[], texts: Record<Blank, string>): string {
  let whole = ''
  for (const { text, blank } of pieces) whole += blank ? text + texts[blank] : text
  return whole
}
