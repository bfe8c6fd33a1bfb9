import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { texts as t } from '#texts/search'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons.tsx'
import { Loading } from '../ui/states.tsx'
import { Place } from './results.tsx'
import { type Found, found, lookUp, lookUpFile } from './search.ts'

export function SearchBox() {
  const text = useSignal('')
  const answer = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (found.value) answer.current?.scrollIntoView({ block: 'nearest' })
  }, [found.value])
  const submit = (event: Event) => {
    event.preventDefault()
    void lookUp(text.value)
  }
  const choose = (event: Event) => {
    const { files } = event.currentTarget as HTMLInputElement
    if (files?.[0]) void lookUpFile(files[0])
  }
  return (
    <Card title={t.title}>
      <form class="search" onSubmit={submit}>
        <Field label={t.label}>
          {(control) => (
            <input
              {...control}
              type="search"
              placeholder={t.placeholder}
              autocomplete="off"
              spellcheck={false}
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value
              }}
            />
          )}
        </Field>
        <Button kind="primary" type="submit">
          <Icon name="search" />
          {t.submit}
        </Button>
      </form>
      <p class="search-hint">
        {t.hint}{' '}
        <label class="link-button">
          {t.choose}
          <input class="quiet-text" type="file" accept=".json,application/json" onChange={choose} />
        </label>
      </p>
      <div role="status" class="found" ref={answer}>
        {found.value && <Result found={found.value} />}
      </div>
    </Card>
  )
}

function Result({ found: value }: { found: Found }) {
  switch (value.state) {
    case 'nothing':
      return (
        <div class="stack">
          <h3>{value.title}</h3>
          <p>{value.text}</p>
        </div>
      )
    case 'asking':
      return <Loading label={t.recognized(t.kinds[value.recognized.kind])} />
    case 'recognized':
      return <Place recognized={value.recognized} anchor={value.anchor} />
  }
}
