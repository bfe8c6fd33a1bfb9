import type { Anchor } from '@svc/api/attestations'
import { shown } from './shown.ts'

/** `2Ana… in slot 123, final` */
export function anchorText(anchor: Anchor | null): string {
  if (anchor === null) return 'not published'
  const { tx, slot, finalized = false } = anchor
  return shown(`${tx}${slot === null ? '' : ` in slot ${slot}`}, ${finalized ? 'final' : 'confirmed'}`)
}
