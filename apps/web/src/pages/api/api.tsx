// The API page: every operation, from the interface description, to read and to try.

import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { texts as t } from '#texts/api'
import { safeDecode } from '../../address.ts'
import { resource } from '../../gateway.ts'
import { hash, useHash } from '../../hash.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Empty, ErrorState, Loading } from '../../ui/states.tsx'
import { type Document, groupsOf, type Operation, operationsOf } from './document.ts'
import { OperationView } from './operation.tsx'
import { Overview } from './overview.tsx'
import { Method, PathText } from './prose.tsx'
import './api.css'

const description = resource<Document>('/openapi.json')

export default function Api() {
  useHash()
  useEffect(() => {
    if (description.now.value.state !== 'ready') void description.load()
  }, [])
  const { value } = description.now
  if (value.state === 'loading') return <Loading label={t.loading} />
  if (value.state === 'failed')
    return <ErrorState title={t.failed} text={value.error.message} retry={() => void description.load()} />
  return <Browser document={value.value} />
}

function Browser({ document: interfaceDescription }: { document: Document }) {
  const operations = useComputed(() => operationsOf(interfaceDescription)).value
  // `#operation?id=…`
  const [id = '', query = ''] = hash.value.split('?')
  const operation = operations.find((one) => one.id === safeDecode(id))
  const missing = operation || /^\/?$/.test(id) ? null : id
  const view = useRef<HTMLDivElement>(null)
  const shown = useRef(hash.value)
  useEffect(() => {
    document.title = [operation?.summary, interfaceDescription.info.title].filter(Boolean).join(' · ')
    if (shown.current === hash.value) return
    shown.current = hash.value
    scrollTo(0, 0)
    view.current?.querySelector('h1')?.focus({ preventScroll: true })
  })
  return (
    <div class="api">
      <Sidebar operations={operations} current={operation?.id ?? ''} />
      <div class="view" ref={view}>
        {missing && <p role="status">{t.missing(missing)}</p>}
        {operation ? (
          <OperationView
            key={hash.value}
            document={interfaceDescription}
            operation={operation}
            given={new URLSearchParams(query)}
          />
        ) : (
          <Overview document={interfaceDescription} operations={operations} />
        )}
      </div>
    </div>
  )
}

function Sidebar({ operations, current }: { operations: readonly Operation[]; current: string }) {
  const filter = useSignal('')
  const isOpen = useSignal(false)
  const search = useRef<HTMLInputElement>(null)
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = operations.filter(({ text }) => words.every((word) => text.includes(word)))
  useEffect(() => {
    const focusSearch = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea')
      if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping) return
      event.preventDefault()
      isOpen.value = true
      search.current?.focus()
    }
    addEventListener('keydown', focusSearch)
    return () => removeEventListener('keydown', focusSearch)
  }, [isOpen])
  const close = () => {
    isOpen.value = false
  }
  return (
    <nav class={isOpen.value ? 'side side-open' : 'side'} aria-label={t.endpoints}>
      <div class="side-head">
        <input
          ref={search}
          class="input"
          type="search"
          placeholder={t.filter}
          aria-label={t.filterLabel}
          autocomplete="off"
          spellcheck={false}
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value
            isOpen.value = true
          }}
        />
        <span class="side-toggle">
          <Button
            kind="quiet"
            label={t.endpoints}
            onClick={() => {
              isOpen.value = !isOpen.value
            }}
          >
            <Icon name={isOpen.value ? 'close' : 'menu'} />
          </Button>
        </span>
      </div>
      <p class="quiet-text" role="status">
        {words.length > 0 && t.matches(found.length, operations.length)}
      </p>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: links inside work by keyboard; this closes the list after them. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above. */}
      <div class="side-list" onClick={close}>
        <a class="side-home" href="#/" aria-current={current === '' ? 'page' : undefined}>
          {t.overview}
        </a>
        {found.length === 0 && <Empty title={t.noMatch} text={t.noMatchText} />}
        {[...groupsOf(found)].map(([name, members]) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <ul>
              {members.map((one) => (
                <li key={one.id}>
                  <a href={`#${one.id}`} title={one.summary} aria-current={one.id === current ? 'page' : undefined}>
                    <Method name={one.method} />
                    <span>
                      <PathText path={one.path.replace(/^\/v\d+\//, '/')} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  )
}
