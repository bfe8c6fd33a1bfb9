// PDF files, drawn page by page on a canvas. Scripts, forms, links and attachments of a document are ignored.

import { type Signal, useSignal } from '@preact/signals'
import {
  getDocument,
  type PDFDocumentLoadingTask,
  type PDFDocumentProxy,
  type PDFPageProxy,
  PDFWorker,
  TextLayer,
  VerbosityLevel,
} from 'pdfjs-dist'
import workerUrl from 'pdfjs-dist/build/pdf.worker.mjs?worker&url'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '#texts/view'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Empty, Loading } from '../../ui/states.tsx'
import { trustedWorkerUrl } from '../../worker-url.ts'
import { type ContentProps, Whole } from './buffered-file.tsx'
import type { OpenedFile } from './source.ts'

const t = texts.pdf

/** Larger documents are read in ranges, only for the shown pages. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024
/** The canvas limit: a huge page would need too much memory. */
const MAX_CANVAS_PIXELS = 16_777_216
const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3]

export default function Pdf(props: ContentProps) {
  const { file } = props
  if (file.size > MAX_WHOLE_BYTES) return <Document file={file} bytes={null} />
  return <Whole {...props}>{(bytes) => <Document file={file} bytes={bytes} />}</Whole>
}

type Opened = { state: 'loading' } | { state: 'ready'; document: PDFDocumentProxy } | { state: 'password' | 'failed' }

function Document({ file, bytes }: { file: OpenedFile; bytes: Uint8Array | null }) {
  const opened = useSignal<Opened>({ state: 'loading' })
  useEffect(() => {
    const { task, close } = openDocument(file, bytes)
    let isClosed = false
    task.promise.then(
      (document) => {
        if (!isClosed) opened.value = { state: 'ready', document }
      },
      (error: Error) => {
        if (!isClosed) opened.value = { state: error.name === 'PasswordException' ? 'password' : 'failed' }
      },
    )
    return () => {
      isClosed = true
      close()
    }
  }, [])
  const { value } = opened
  if (value.state === 'loading') return <Loading label={t.loading} />
  if (value.state === 'ready') return <Pages document={value.document} />
  return <Empty title={t[value.state].title} text={t[value.state].text} />
}

function openDocument(file: OpenedFile, bytes: Uint8Array | null): { task: PDFDocumentLoadingTask; close: () => void } {
  const thread = new Worker(trustedWorkerUrl(new URL(workerUrl, import.meta.url)), { type: 'module' })
  const worker = PDFWorker.create({ port: thread })
  const task = getDocument({
    // The worker takes ownership of the bytes.
    ...(bytes ? { data: bytes.slice() } : { url: file.url, disableAutoFetch: true, disableStream: true }),
    worker,
    useWasm: false,
    enableXfa: false,
    disableWorkerRendering: true,
    verbosity: VerbosityLevel.ERRORS,
  } as Parameters<typeof getDocument>[0])
  const close = () => {
    void task.destroy().catch(() => {})
    worker.destroy()
    thread.terminate()
  }
  return { task, close }
}

function Pages({ document }: { document: PDFDocumentProxy }) {
  const page = useSignal(1)
  const zoom = useSignal(1)
  const count = document.numPages
  const go = (to: number) => {
    if (Number.isInteger(to) && to >= 1 && to <= count) page.value = to
  }
  const step = (by: 1 | -1) => {
    zoom.value = ZOOMS[ZOOMS.indexOf(zoom.value) + by] ?? zoom.value
  }
  return (
    <div class="stack">
      <fieldset class="row view-tools" aria-label={t.pages}>
        <Button kind="quiet" label={t.previous} onClick={() => go(page.value - 1)} disabled={page.value === 1}>
          <Icon name="previous" />
        </Button>
        <label class="pdf-page">
          <span>{t.page}</span>
          <input
            aria-label={t.page}
            class="input"
            type="number"
            min={1}
            max={count}
            value={page.value}
            onChange={({ currentTarget }) => {
              go(currentTarget.valueAsNumber)
              currentTarget.value = String(page.value)
            }}
          />
          {t.of(count)}
        </label>
        <Button kind="quiet" label={t.next} onClick={() => go(page.value + 1)} disabled={page.value === count}>
          <Icon name="next" />
        </Button>
        <span class="pdf-space" />
        <Button kind="quiet" label={t.smaller} onClick={() => step(-1)} disabled={zoom.value === ZOOMS[0]}>
          <Icon name="less" />
        </Button>
        <span aria-live="polite">{t.zoom(zoom.value * 100)}</span>
        <Button kind="quiet" label={t.larger} onClick={() => step(1)} disabled={zoom.value === ZOOMS.at(-1)}>
          <Icon name="more" />
        </Button>
      </fieldset>
      <Page document={document} page={page.value} zoom={zoom} />
    </div>
  )
}

function Page({ document, page, zoom }: { document: PDFDocumentProxy; page: number; zoom: Signal<number> }) {
  const frame = useRef<HTMLElement>(null)
  const sheet = useRef<HTMLDivElement>(null)
  const width = useSignal(0)
  const hasFailed = useSignal(false)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry!.contentRect.width)
    })
    observer.observe(frame.current as HTMLElement)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (width.value === 0) return
    let cancel = () => {}
    let isOver = false
    hasFailed.value = false
    document
      .getPage(page)
      .then((found) => {
        if (isOver) return
        const drawing = draw(found, width.value * zoom.value)
        cancel = drawing.cancel
        return drawing.done.then((parts) => {
          if (!isOver) sheet.current?.replaceChildren(...parts)
        })
      })
      .catch(() => {
        if (!isOver) hasFailed.value = true
      })
    return () => {
      isOver = true
      cancel()
    }
  }, [document, page, width.value, zoom.value])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
    <section class="view-frame pdf-frame" tabIndex={0} aria-label={t.canvas(page)} ref={frame}>
      {hasFailed.value && <p role="alert">{t.pageFailed}</p>}
      <div class="pdf-sheet" ref={sheet} hidden={hasFailed.value} />
    </section>
  )
}

/** The page as a picture, with an invisible text layer for selection, search and screen readers. */
function draw(page: PDFPageProxy, width: number): { done: Promise<HTMLElement[]>; cancel: () => void } {
  const scale = width / page.getViewport({ scale: 1 }).width
  const viewport = page.getViewport({ scale })
  const sharpness = Math.min(devicePixelRatio, Math.sqrt(MAX_CANVAS_PIXELS / (viewport.width * viewport.height)))
  const canvas = globalThis.document.createElement('canvas')
  canvas.width = Math.max(1, Math.floor(viewport.width * sharpness))
  canvas.height = Math.max(1, Math.floor(viewport.height * sharpness))
  canvas.style.width = `${viewport.width}px`
  canvas.style.height = `${viewport.height}px`
  canvas.ariaHidden = 'true'
  const container = globalThis.document.createElement('div')
  container.className = 'pdf-text'
  container.style.setProperty('--total-scale-factor', String(scale))
  const drawing = page.render({ canvas, viewport, transform: [sharpness, 0, 0, sharpness, 0, 0], annotationMode: 0 })
  const text = new TextLayer({ textContentSource: page.streamTextContent(), container, viewport })
  const done = Promise.all([drawing.promise, text.render().catch(() => {})]).then(() => [canvas, container])
  return {
    done,
    cancel: () => {
      drawing.cancel()
      text.cancel()
    },
  }
}
