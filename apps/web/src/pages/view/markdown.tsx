// Renders Markdown from its tokens. No token becomes HTML: raw HTML stays text, pictures are named but not loaded, and
// links lead only to web pages and mail.

import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { texts as t } from '#texts/view'
import Highlight from './highlight.tsx'

/** The depth limit of lists and quotes, against files that try to break the parser. */
const MAX_DEPTH = 40

export default function Markdown({ text }: { text: string }) {
  const nodes = useMemo(() => formatted(text), [text])
  return (
    <article class="markdown" dir="auto">
      {nodes}
    </article>
  )
}

function formatted(text: string): ComponentChildren {
  let tokens: Token[]
  try {
    tokens = lexer(text)
  } catch {
    // The text is nested too deeply for the parser.
    return <pre>{text}</pre>
  }
  return nodesOf(tokens, 0)
}

function nodesOf(tokens: readonly Token[] | undefined, depth: number): ComponentChildren[] {
  if (depth > MAX_DEPTH) return [tokens?.map(({ raw }) => raw).join('')]
  return (tokens ?? []).map((token, i) => <Node key={i} token={token as MarkedToken} depth={depth} />)
}

function Node({ token, depth }: { token: MarkedToken; depth: number }) {
  const inside = () => nodesOf('tokens' in token ? token.tokens : undefined, depth + 1)
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading': {
      // The name of the file is the first heading of the page.
      const Heading = `h${Math.min(token.depth + 1, 6)}` as 'h2'
      return <Heading>{inside()}</Heading>
    }
    case 'paragraph':
      return <p>{inside()}</p>
    case 'blockquote':
      return <blockquote>{inside()}</blockquote>
    case 'list':
      return <List token={token} depth={depth} />
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
        <section class="view-text" tabIndex={0} aria-label={token.lang || t.text.label}>
          <pre>
            <Highlight text={token.text} language={/^[\w+#-]*/.exec(token.lang ?? '')?.[0] ?? ''} />
          </pre>
        </section>
      )
    case 'table':
      return <MarkdownTable token={token} depth={depth} />
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'strong':
      return <strong>{inside()}</strong>
    case 'em':
      return <em>{inside()}</em>
    case 'del':
      return <del>{inside()}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'link':
      return <Link href={token.href}>{inside()}</Link>
    case 'image':
      return (
        <Link href={token.href}>
          [{t.markdown.image} {characters(token.text)}]
        </Link>
      )
    case 'html':
      return <code class="markdown-html">{token.raw}</code>
    case 'checkbox':
      return <>{token.checked ? '☑ ' : '☐ '}</>
    case 'escape':
      return <>{token.text}</>
    case 'text':
      return <>{token.tokens ? inside() : characters(token.text)}</>
    default:
      return <>{(token as Token).raw}</>
  }
}

function List({ token: { ordered, start, items }, depth }: { token: Tokens.List; depth: number }) {
  const list = items.map((item, i) => <li key={i}>{nodesOf(item.tokens, depth + 2)}</li>)
  return ordered ? <ol start={start === '' ? 1 : start}>{list}</ol> : <ul>{list}</ul>
}

function MarkdownTable({ token: { header, rows }, depth }: { token: Tokens.Table; depth: number }) {
  const cells = (row: Tokens.TableCell[], Cell: 'th' | 'td') => (
    <tr>
      {row.map(({ tokens, align }, i) => (
        <Cell key={i} class={align ? `align-${align}` : undefined}>
          {nodesOf(tokens, depth + 2)}
        </Cell>
      ))}
    </tr>
  )
  return (
    <div class="table">
      <table>
        <thead>{cells(header, 'th')}</thead>
        <tbody>
          {rows.map((row, i) => (
            <Rows key={i}>{cells(row, 'td')}</Rows>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Rows = ({ children }: { children: JSX.Element }) => children

/** A link to a web page or mail; other links stay text. */
function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const url = URL.parse(href)
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return <>{children}</>
  return (
    <a href={url.href} title={url.href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
}

/** Decodes character references, which the parser leaves unchanged. */
function characters(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (raw, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null
    if (code === null) return NAMED[name] ?? raw
    return code > 31 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : raw
  })
}
