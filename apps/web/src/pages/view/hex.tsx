import { useMemo } from 'preact/hooks'
import { texts as t } from '#texts/view'
import type { OpenedFile } from './source.ts'

const SHOWN_BYTES = 4096
const PER_LINE = 16

/** The first bytes of a file of unknown kind. */
export function Hex({ file: { head, size } }: { file: OpenedFile }) {
  const bytes = head.subarray(0, SHOWN_BYTES)
  const dump = useMemo(() => hexDump(bytes), [head])
  return (
    <div class="stack">
      <p class="view-note">{t.hex.note(bytes.length, size)}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="view-frame view-text" tabIndex={0} aria-label={t.hex.label}>
        <pre>{dump}</pre>
      </section>
    </div>
  )
}

/** Lines with offset, byte values and printable characters. */
function hexDump(bytes: Uint8Array): string {
  const lines = []
  for (let at = 0; at < bytes.length; at += PER_LINE) {
    const line = [...bytes.subarray(at, at + PER_LINE)]
    const numbers = line.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const characters = line.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·')).join('')
    lines.push(`${at.toString(16).padStart(8, '0')}  ${numbers.padEnd(PER_LINE * 3 - 1)}  ${characters}`)
  }
  return lines.join('\n')
}
