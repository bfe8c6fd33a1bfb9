// The interface description, as far as this page reads it, and its operations in groups.

import { texts } from '#texts/api'
import { resolve, type Schema } from './schema.ts'

export interface Document {
  openapi: string
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, SecurityScheme> }
}

interface SecurityScheme {
  type: 'apiKey' | 'http'
  /** The name of the header. */
  name?: string
  description?: string
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: Schema
  description?: string
  example?: unknown
}

export interface Media {
  schema: Schema
  example?: unknown
}

export interface Response {
  description: string
  content?: Record<string, Media>
  headers?: Record<string, { schema: Schema }>
}

interface DescribedOperation {
  operationId: string
  summary: string
  security: Record<string, string[]>[]
  'x-required-ops'?: string[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, Response>
}

export interface Operation extends Omit<DescribedOperation, 'operationId' | 'x-required-ops' | 'security'> {
  id: string
  method: string
  path: string
  group: string
  /** The names of its security schemes; empty for a public operation. */
  schemes: string[]
  /** Whether it also works without credentials. */
  isOptional: boolean
  ops: string[]
  /** The text that the filter searches. */
  text: string
}

const METHODS = ['get', 'post', 'put', 'delete', 'head']

/** All operations by group, in the order of the description. */
export function operationsOf(document: Document): Operation[] {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => readOperation(path, method, item[method]!)),
  )
  const sizes = new Map<string, number>()
  for (const { group } of all) sizes.set(group, (sizes.get(group) ?? 0) + 1)
  const grouped = all.map((one) => ({ ...one, group: groupName(one.group, sizes.get(one.group) ?? 0) }))
  return [...groupsOf(grouped).values()].flat()
}

function readOperation(path: string, method: string, described: DescribedOperation): Operation {
  const { operationId: id, summary, security, 'x-required-ops': ops = [], ...rest } = described
  return {
    ...rest,
    id,
    method,
    path,
    summary,
    group: path.split('/').find((part) => /^[^{]/.test(part) && !/^v\d+$/.test(part)) ?? '',
    schemes: Object.keys(security[0] ?? {}),
    isOptional: security.some((scheme) => Object.keys(scheme).length === 0),
    ops,
    text: `${method} ${path} ${summary} ${id}`.toLowerCase(),
  }
}

function groupName(segment: string, size: number): string {
  if (size === 1 || segment.startsWith('.')) return texts.general
  return /^[a-z]{3}/.test(segment)
    ? `${segment.charAt(0).toUpperCase()}${segment.slice(1).replaceAll('-', ' ')}`
    : `/${segment}`
}

export function groupsOf(operations: readonly Operation[]): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>()
  for (const one of operations) groups.set(one.group, [...(groups.get(one.group) ?? []), one])
  return groups
}

/** The JSON media type of a body, or else its first media type. */
export function mediaOf(content: Record<string, Media> | undefined): [type: string, media: Media] | null {
  const entries = Object.entries(content ?? {})
  return entries.find(([type]) => type.includes('json')) ?? entries[0] ?? null
}

/** The error codes of a response, which its description lists. */
export function errorCodes({ description }: Response): string[] {
  const words = description.split(', ')
  return words.every((word) => /^\w+_\w+$/.test(word)) ? words : []
}

/** The description of a parameter, which may be in its schema. */
export function aboutParameter(document: Document, { description, schema }: Parameter): string | undefined {
  return description ?? resolve(document, schema).schema.description
}
