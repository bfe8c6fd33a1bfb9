// HTML from templates. Every value is escaped, unless it comes from another template.

export interface Fragment {
  readonly markup: string
}

type Value = string | Fragment | readonly Fragment[]

export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Fragment {
  return { markup: strings.map((text, i) => text + markupOf(values[i] ?? '')).join('') }
}

function markupOf(value: Value): string {
  if (typeof value === 'string') return escaped(value)
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('')
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '')
}
