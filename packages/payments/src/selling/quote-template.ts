// Quotes for the same order at the same rates differ only in their id and their time. A template is such a quote as
// text, with placeholders for those: the next quote needs no serializing, and is stored without its text.

import { isoSeconds } from '@svc/protocol/evidence'
import { paymentReference, solanaPayReference } from '@svc/protocol/ids'
import { plainOfferText } from './payment-headers.ts'
import { type AnyQuote, type QuoteId, withoutTransferRequests } from './quote.ts'

/** The id and time of a template's quote: an id that is never issued, and the last second of year 9999. */
export const PLACEHOLDER: QuoteId = { payReqId: `pr_${'0'.repeat(32)}`, expiresAt: 253_402_300_799 }

export interface QuoteTemplate {
  body: Pieces
  header: Pieces
  /** The body without its transfer requests. */
  storedPieces: Pieces
}

/**
 * Text, the name of a placeholder, text, and so on. Stored templates are such lists, so the names must never change.
 */
type Pieces = readonly string[]

/** Every text in a quote that depends on its id or time. */
const PLACEHOLDERS: Readonly<Record<string, (id: QuoteId, textOf: QuoteTexts) => string>> = {
  payReqId: ({ payReqId }) => payReqId,
  reference: ({ payReqId }) => paymentReference(payReqId),
  referenceHex: (_, textOf) => Buffer.from(textOf('reference')).toString('hex'),
  expires: ({ expiresAt }) => isoSeconds(expiresAt),
  // Never stored: earlier releases do not know it, and run beside this one during an update.
  transferReference: ({ payReqId }) => solanaPayReference(payReqId),
}

/** The texts of one quote by the names of their placeholders. */
export type QuoteTexts = (name: string) => string

/** Each text is computed once, when it is first asked for: most need a hash. */
export function quoteTexts(id: QuoteId): QuoteTexts {
  const known = new Map<string, string>()
  return function textOf(name) {
    let text = known.get(name)
    if (text !== undefined) return text
    text = PLACEHOLDERS[name]?.(id, textOf)
    if (text === undefined) throw new Error(`a stored quote has the unknown placeholder ${name}`)
    known.set(name, text)
    return text
  }
}

/** The quote must be made with `PLACEHOLDER`. */
export function quoteTemplate(quote: AnyQuote): QuoteTemplate {
  return {
    body: piecesOf(JSON.stringify(quote)),
    header: piecesOf(plainOfferText(quote)),
    storedPieces: piecesOf(JSON.stringify(withoutTransferRequests(quote))),
  }
}

export function fillTemplate({ body, header }: QuoteTemplate, textOf: QuoteTexts): { body: string; header: string } {
  return { body: fill(body, textOf), header: fill(header, textOf) }
}

/** The stored form of a quote: its whole body, or what its template stores. */
export interface StoredQuote {
  pay_req_id: string
  expires_at: number
  quote: string
  /** The `templateText` of its template, if it has one. Then `quote` is empty. */
  template: string | null
}

/** What `storedBody` needs of a template. */
export function templateText({ storedPieces }: QuoteTemplate): string {
  return JSON.stringify(storedPieces)
}

/** The body of the original response; one that was stored by its template has no transfer requests. */
export function storedBody({ pay_req_id: payReqId, expires_at: expiresAt, quote, template }: StoredQuote): string {
  return template === null ? quote : fill(JSON.parse(template), quoteTexts({ payReqId, expiresAt }))
}

const NAMES = new Map(Object.keys(PLACEHOLDERS).map((name) => [quoteTexts(PLACEHOLDER)(name), name]))
const ANY_PLACEHOLDER = new RegExp(`(${[...NAMES.keys()].join('|')})`)

function piecesOf(text: string): Pieces {
  // Splitting by a capture group makes every second piece a match of the group.
  return text.split(ANY_PLACEHOLDER).map((part, i) => (i % 2 === 0 ? part : (NAMES.get(part) as string)))
}

function fill(pieces: Pieces, textOf: QuoteTexts): string {
  let filled = ''
  for (const [i, piece] of pieces.entries()) filled += i % 2 === 0 ? piece : textOf(piece)
  return filled
}
