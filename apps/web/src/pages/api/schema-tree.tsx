import { useSignal } from '@preact/signals'
import { texts } from '#texts/api'
import { common } from '#texts/common'
import type { Document } from './document.ts'
import { Chips, Prose } from './prose.tsx'
import { type Inner, inside, resolve, rulesOf, type Schema, typeName } from './schema.ts'

const t = texts.operation

/** A body, field by field. */
export function SchemaTree({ document, schema }: { document: Document; schema: Schema }) {
  const { properties, description } = resolve(document, schema).schema
  const fields = inside(document, schema)
  const rows = properties ? fields : [{ name: fields.length > 0 ? t.items : t.schema, schema, isRequired: false }]
  return (
    <div class="tree">
      {properties && description && (
        <p class="about">
          <Prose text={description} />
        </p>
      )}
      {rows.map((row) => (
        <FieldRow key={row.name} document={document} field={row} depth={0} />
      ))}
    </div>
  )
}

interface FieldProps {
  document: Document
  field: Inner
  depth: number
}

/** Nested fields are rendered when they are first opened, so a schema may contain itself. */
function FieldRow({ document, field: { name, schema, isRequired }, depth }: FieldProps) {
  const fields = inside(document, schema)
  const isOpen = useSignal(depth < 1 && fields.length < 9)
  const head = (
    <>
      <span class="name">{name}</span> <span class="type">{typeName(document, schema)}</span>
      {isRequired && <span class="required">{common.states.required}</span>}
      <Rules document={document} schema={schema} />
    </>
  )
  if (fields.length === 0) return <div class="tree-row">{head}</div>
  return (
    <details
      class="tree-row"
      open={isOpen.value}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>{head}</summary>
      {isOpen.value && (
        <div class="nested">
          {fields.map((inner) => (
            <FieldRow key={inner.name} document={document} field={inner} depth={depth + 1} />
          ))}
        </div>
      )}
    </details>
  )
}

/** The constraints and the meaning of a value. */
export function Rules({ document, schema }: { document: Document; schema: Schema }) {
  const { items, description } = resolve(document, schema).schema
  const rules = [...rulesOf(document, schema), ...(items ? rulesOf(document, items) : [])]
  return (
    <>
      {rules.length > 0 && (
        <span class="rules">
          {rules.map(([word, values]) => (
            <span key={word + values}>
              {word} <Chips values={values} />
            </span>
          ))}
        </span>
      )}
      {description && (
        <span class="about">
          <Prose text={description} />
        </span>
      )}
    </>
  )
}
