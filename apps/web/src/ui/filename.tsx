// Names that others chose: shown as they are, apart from what cannot be seen or changes how the rest is read.

const INVISIBLE =
  /([\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|[\u00a0\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u3164])/gu

/** Of a name in a sentence or an attribute. */
const SHORT = 80

/** Text and, at odd places, characters that are shown by their number. */
export function filenameParts(name: string): string[] {
  return name.split(INVISIBLE).map((part, i) => (i % 2 === 0 ? part : codePoint(part)))
}

function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`
}

/** One line of plain text, for titles and attributes. */
export function plainFilename(name: string): string {
  return filenameParts(name)
    .map((part, i) => (i % 2 === 0 ? part : `[${part}]`))
    .join('')
}

/** Cut to fit a sentence. */
export function shortFilename(name: string): string {
  const characters = [...plainFilename(name)]
  return characters.length > SHORT ? `${characters.slice(0, SHORT).join('')}…` : characters.join('')
}

/** Isolated, so that its direction of writing changes nothing around it. */
export function Filename({ name }: { name: string }) {
  return (
    <bdi class="filename">
      {filenameParts(name).map((part, i) =>
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
