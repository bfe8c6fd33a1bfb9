// The list of parts that completes an upload.

import { hash } from 'node:crypto'
import { s3Error } from '@svc/s3/errors'
import { childrenOf, readXml, textOf, type XmlElement } from '@svc/s3/xml'
import type { Part } from '../../../files/parts/part-store.ts'
import type { SessionFile } from '../../../files/parts/store.ts'
import { etagOfPart } from '../etags.ts'
import { announcedOf, checksumElementName } from './checksums.ts'
import { MAX_PART_NUMBER, readPartNumber } from './uploads.ts'

/** Ten thousand parts with ETag and SHA-256, with a margin. */
export const MAX_LIST_BYTES = 4 * 1_048_576
/** The root element; and for each part its element, number, ETag, size and every checksum. */
const MAX_ELEMENTS = 1 + MAX_PART_NUMBER * 9
/** The limit of S3, for all parts but the last. */
const MIN_PART_BYTES = 5 * 1_048_576

export interface ListedPart {
  number: number
  /** Without quotes. */
  etag: string
  element: XmlElement
}

/** In ascending order of part numbers. */
export function readPartList(body: Buffer): ListedPart[] {
  const root = readXml(body, { bytes: MAX_LIST_BYTES, elements: MAX_ELEMENTS })
  const parts = childrenOf(root, 'Part').map(readPart)
  if (root.name !== 'CompleteMultipartUpload' || parts.length === 0) {
    throw s3Error('MalformedXML', 'the body must be a CompleteMultipartUpload with at least one Part')
  }
  if (parts.some(({ number }, i) => i > 0 && number <= parts[i - 1]!.number)) {
    throw s3Error('InvalidPartOrder', 'the parts must be listed in ascending order of part number, each once')
  }
  return parts
}

function readPart(element: XmlElement): ListedPart {
  const etag = textOf(element, 'ETag')
  const number = textOf(element, 'PartNumber')
  if (etag === null || number === null) throw s3Error('MalformedXML', 'a Part needs PartNumber and ETag')
  return { number: readPartNumber(number.trim()), etag: unquoted(etag.trim()), element }
}

const unquoted = (etag: string) => etag.replaceAll('"', '')

/** A digest that identifies the list. */
export function digestOf(list: readonly ListedPart[]): string {
  return hash('sha256', list.map(({ number, etag }) => `${number} ${etag}\n`).join(''))
}

/** The stored parts that the list names. */
export function listedParts(list: readonly ListedPart[], stored: readonly Part[], file: SessionFile): Part[] {
  const byNumber = new Map(stored.map((part) => [part.part_index + 1, part]))
  const parts = list.map((listed) => {
    const part = byNumber.get(listed.number)
    if (part && isSame(listed, part, file)) return part
    throw s3Error(
      'InvalidPart',
      `there is no part ${listed.number} with this ETag${part ? ' and checksum' : ''}`,
      'list the parts of the upload, and upload missing or replaced parts again',
    )
  })
  const small = parts.slice(0, -1).find(({ size_bytes }) => size_bytes < MIN_PART_BYTES)
  if (!small) return parts
  throw s3Error(
    'EntityTooSmall',
    `part ${small.part_index + 1} has ${small.size_bytes} bytes; all parts but the last need at least ${MIN_PART_BYTES}`,
    'upload larger parts',
  )
}

function isSame({ etag, element }: ListedPart, { sha256, checksum }: Part, file: SessionFile): boolean {
  const announced = announcedOf(file)
  const listed = announced && textOf(element, checksumElementName(announced.algorithm))
  return unquoted(etagOfPart(sha256)) === etag && (!listed || checksum === null || listed.trim() === checksum)
}
