// Reads a file that somebody drops: is it an evidence bundle, and what does it say of itself? Nothing leaves the page.

import type { EvidenceBundle } from '@svc/api/proofs'
import { EVIDENCE_BUNDLE_SCHEMA } from '@svc/protocol/names'
import { texts } from '#texts/search'

const t = texts.bundle

/** A larger one would freeze the page while it is parsed. */
const MAX_MEGABYTES = 64

export interface DroppedBundle {
  name: string
  /** What it claims; nothing of it is checked, and every part may be missing. */
  claims: Partial<EvidenceBundle>
}

export class UnreadableBundle extends Error {
  override name = 'UnreadableBundle'
}

export async function readBundle(file: File, onProgress: (bytes: number) => void): Promise<DroppedBundle> {
  const { name } = file
  if (file.size > MAX_MEGABYTES * 1_000_000) throw new UnreadableBundle(t.tooLarge(name, MAX_MEGABYTES))
  const text = await readText(file, onProgress)
  const claims = parse(text)
  if (claims === undefined) throw new UnreadableBundle(t.notJson(name))
  if (!isBundle(claims)) throw new UnreadableBundle(t.notBundle(name))
  return { name, claims }
}

async function readText(file: File, onProgress: (bytes: number) => void): Promise<string> {
  const decoder = new TextDecoder()
  const reader = file.stream().getReader()
  let text = ''
  let bytes = 0
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    text += decoder.decode(piece.value, { stream: true })
    bytes += piece.value.length
    onProgress(bytes)
  }
  return text + decoder.decode()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Redacted bundles have a schema of their own with the same beginning. */
function isBundle(value: unknown): value is Partial<EvidenceBundle> {
  const family = EVIDENCE_BUNDLE_SCHEMA.replace(/\/v\d+$/, '')
  return typeof value === 'object' && value !== null && String((value as { schema?: unknown }).schema).includes(family)
}
