// Shows the content of the file, according to its kind.

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { texts as t } from '#texts/view'
import { urlOf } from '../../address.ts'
import { Code } from '../../ui/code.tsx'
import { plainFilename } from '../../ui/filename.tsx'
import { Empty } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import type { ContentProps } from './buffered-file.tsx'
import { Hex } from './hex.tsx'
import { Picture } from './image.tsx'
import { recognize } from './kinds.ts'
import { Lazy } from './lazy.tsx'
import { Media } from './media.tsx'
import type { OpenedFile } from './source.ts'
import { TextFile } from './text.tsx'

const loadPdf = () => import('./pdf.tsx')

interface Props extends ContentProps {
  /** What to show for an encrypted file; by default how its owner opens it. */
  encrypted?: ComponentChildren
}

export function Content({ encrypted, ...props }: Props) {
  const { file } = props
  const { kind, imageType, charset = 'utf-8', isDisguised } = useMemo(() => recognize(file), [file])
  const text = <TextFile {...props} charset={charset} />
  return (
    <>
      {isDisguised && <p class="view-note view-warning">{t.disguised}</p>}
      {kind === 'empty' && <Empty title={t.empty.title} text={t.empty.text} />}
      {kind === 'encrypted' && (encrypted ?? <Encrypted file={file} />)}
      {kind === 'image' && <Picture {...props} type={imageType as string} />}
      {kind === 'svg' && <Drawing file={file} source={text} />}
      {kind === 'pdf' && <Lazy load={loadPdf} props={props} />}
      {(kind === 'audio' || kind === 'video') && <Media file={file} kind={kind} />}
      {kind === 'markdown' && <TextFile {...props} charset={charset} isMarkdown />}
      {kind === 'text' && text}
      {kind === 'other' && <Hex file={file} />}
    </>
  )
}

/** An SVG from its own address, where it is sandboxed even in its own tab. */
function Drawing({ file, source }: { file: OpenedFile; source: ComponentChildren }) {
  const alt = t.image.alt(plainFilename(file.filename))
  return (
    <Tabs
      label={t.svg.label}
      tabs={[
        { name: t.svg.picture, content: <img class="view-image" src={file.url} alt={alt} /> },
        { name: t.svg.source, content: source },
      ]}
    />
  )
}

function Encrypted({ file }: { file: OpenedFile }) {
  const command = `svc get ${shellQuoted(file.filename)}`
  return (
    <div class="stack">
      <h2>{t.encrypted.title}</h2>
      <p>{t.encrypted.text}</p>
      <Code title="svc" label={t.encrypted.command} text={command}>
        {plainFilename(command)}
      </Code>
      <div>
        <a class="button" href={urlOf('/locker')}>
          {t.encrypted.locker}
        </a>
      </div>
    </div>
  )
}

/** Quotes any text as one word of a shell. */
function shellQuoted(text: string): string {
  return /^[\w./-]+$/.test(text) && !text.startsWith('-') ? text : `-- '${text.replaceAll("'", `'\\''`)}'`
}
