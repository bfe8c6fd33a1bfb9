import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy.tsx'

interface CodeProps {
  /** A short title. */
  title: ComponentChildren
  label: string
  text: string
  children?: ComponentChildren
  /** Creates the text to copy when the button is clicked. */
  copied?: () => Promise<string>
}

/** A block of commands or data with its copy button. */
export function Code({ title, label, text, children = text, copied }: CodeProps) {
  return (
    <div class="code">
      <div class="code-bar">
        <span>{title}</span>
        <CopyButton text={copied ?? text} what={label} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="code-text" tabIndex={0} aria-label={label}>
        <pre>{children}</pre>
      </section>
    </div>
  )
}

/** Longer texts stay plain: thousands of elements would make the page slow. */
const MAX_COLOURED = 60_000
const TOKENS = /("(?:[^"\\]|\\.)*"(?:\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/

/** JSON in colours. Every piece of it is text. */
export function JsonText({ text }: { text: string }) {
  if (text.length > MAX_COLOURED) return <>{text}</>
  return (
    <>
      {text.split(TOKENS).map((token, i) =>
        i % 2 === 0 ? (
          token
        ) : (
          <span key={i} class={tokenClass(token)}>
            {token}
          </span>
        ),
      )}
    </>
  )
}

function tokenClass(token: string): string {
  if (token.endsWith(':')) return 'json-key'
  if (token.startsWith('"')) return 'json-string'
  return /^[tfn]/.test(token) ? 'json-word' : 'json-number'
}
