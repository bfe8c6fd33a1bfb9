// Names that others chose: shown as they are, apart from what cannot be seen or changes how the rest is read.

const INVISIBLE =
  /([\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|[\u00a0\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u3164])/gu

/** Text and, at odd places, characters that are shown by their number. */
function partsOf(name: string): string[] {
  return name.split(INVISIBLE).map((part, i) => (i % 2 === 0 ? part : codePoint(part)))
}

function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`
}

/** One line of plain text, for titles and attributes. */
export function plainFilename(name: string): string {
  return partsOf(name)
    .map((part, i) => (i % 2 === 0 ? part : `[${part}]`))
    .join('')
}

/** Isolated, so that its direction of writing changes nothing around it. */
export function Filename({ name }: { name: string }) {
  return (
    <bdi class="filename">
      {partsOf(name).map((part, i) =>
        i % 2 === 0 ? (
          part
        ) : (
          <span key={i} class="unseen">
            {part}
          </span>
        ),
      )}
    </bdi>
  )
}
