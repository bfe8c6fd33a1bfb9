type Texts = Record<string, string>

/** A document of S3's: some texts, then a list of elements that hold texts. */
export function element(root: string, texts: Texts, list: readonly Record<string, Texts>[] = []): string {
  const listed = list.map((item) => Object.entries(item).map(([name, inner]) => `<${name}>${content(inner)}</${name}>`))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${content(texts)}${listed.flat().join('')}</${root}>`
}

function content(texts: Texts): string {
  return Object.entries(texts)
    .map(([name, text]) => `<${name}>${text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`)}</${name}>`)
    .join('')
}
