// The checksums of an upload: what its client announces, what its parts have, and what that makes of the object.

import {
  type ChecksumAlgorithm,
  type Checksums,
  type CrcAlgorithm,
  combineChecksums,
  compositeChecksum,
  readChecksums,
  startChecksum,
} from '@svc/s3/checksums'
import { s3Error } from '@svc/s3/errors'
import type { Part } from '../../../files/parts/part-store.ts'
import type { SessionFile } from '../../../files/parts/store.ts'

export interface UploadChecksum {
  algorithm: ChecksumAlgorithm
  type: 'COMPOSITE' | 'FULL_OBJECT'
}

/** As elements and headers name them. */
const NAMES: Readonly<Record<ChecksumAlgorithm, string>> = {
  crc32: 'CRC32',
  crc32c: 'CRC32C',
  crc64nvme: 'CRC64NVME',
  sha1: 'SHA1',
  sha256: 'SHA256',
}
const CRCS: readonly string[] = ['crc32', 'crc32c', 'crc64nvme']

type Headers = Readonly<Record<string, string>>

/** What the head of CreateMultipartUpload announces; null when it is nothing. */
export function readAnnounced(headers: Headers): UploadChecksum | null {
  const name = headers['x-amz-checksum-algorithm']?.toUpperCase()
  const type = readType(headers)
  if (name === undefined) {
    if (type) throw s3Error('InvalidRequest', 'x-amz-checksum-type needs x-amz-checksum-algorithm')
    return null
  }
  const algorithm = (Object.keys(NAMES) as ChecksumAlgorithm[]).find((known) => NAMES[known] === name)
  if (!algorithm) throw s3Error('InvalidRequest', `x-amz-checksum-algorithm is none of ${Object.values(NAMES)}`)
  const usual = algorithm === 'crc64nvme' ? 'FULL_OBJECT' : 'COMPOSITE'
  const isPossible = type === null || type === usual || (type === 'FULL_OBJECT' && CRCS.includes(algorithm))
  if (!isPossible) throw s3Error('InvalidRequest', `checksums of ${name} are not of the type ${type}`)
  return { algorithm, type: type ?? usual }
}

function readType(headers: Headers): UploadChecksum['type'] | null {
  const type = headers['x-amz-checksum-type']?.toUpperCase()
  if (type === undefined || type === 'COMPOSITE' || type === 'FULL_OBJECT') return type ?? null
  throw s3Error('InvalidRequest', 'x-amz-checksum-type is COMPOSITE or FULL_OBJECT')
}

/** As rows keep it. */
export type Announced = Pick<SessionFile, 'checksum_algorithm' | 'checksum_type'>

export function announcedOf({ checksum_algorithm, checksum_type }: Announced): UploadChecksum | null {
  if (checksum_algorithm === null) return null
  return { algorithm: checksum_algorithm, type: checksum_type } as UploadChecksum // as they were read
}

/** Whether a part comes with the checksum that its upload announced, as a header or behind its bytes. */
export function isChecksumSent(headers: Headers, file: Announced): boolean {
  const announced = announcedOf(file)
  const name = `x-amz-checksum-${announced?.algorithm}`
  return headers[name] !== undefined || headers['x-amz-trailer']?.trim().toLowerCase() === name
}

interface Checksummed {
  bytes: AsyncIterable<Buffer>
  /** Null where none was announced. Call it after the end of the bytes. */
  checksum(): string | null
}

/** Computes the announced checksum of a part, unless the client has sent it, and it was checked. */
export function checksummed(
  file: SessionFile,
  bytes: AsyncIterable<Buffer>,
  sent: (() => Checksums) | null,
): Checksummed {
  const announced = announcedOf(file)
  if (!announced) return { bytes, checksum: () => null }
  const { algorithm } = announced
  if (sent) return { bytes, checksum: () => sent()[algorithm] ?? null }
  const running = startChecksum(algorithm)
  async function* updating(): AsyncGenerator<Buffer> {
    for await (const piece of bytes) {
      running.update(piece)
      yield piece
    }
  }
  return { bytes: updating(), checksum: () => running.digest() }
}

/** Of the object that the parts make; null where none was announced. */
export function checksumOf(file: SessionFile, parts: readonly Part[]): string | null {
  const announced = announcedOf(file)
  if (!announced || parts.some(({ checksum }) => checksum === null)) return null
  const { algorithm, type } = announced
  const checksums = parts.map(({ checksum, size_bytes: size }) => ({ checksum: checksum!, size }))
  if (type === 'FULL_OBJECT') return combineChecksums(algorithm as CrcAlgorithm, checksums)
  return compositeChecksum(
    algorithm,
    checksums.map(({ checksum }) => checksum),
  )
}

/** Refuses a completion whose head names another checksum of the object than its parts have. */
export function requireSameChecksum(headers: Headers, file: SessionFile, actual: string | null): void {
  const announced = announcedOf(file)
  const type = readType(headers)
  if (type && type !== announced?.type) {
    throw s3Error('InvalidRequest', `x-amz-checksum-type is not the one that the upload began with`)
  }
  for (const [algorithm, value] of Object.entries(readChecksums(headers))) {
    if (algorithm !== announced?.algorithm) {
      throw s3Error('InvalidRequest', `the upload did not begin with checksums of ${algorithm}`)
    }
    const isSame = value === actual || (announced.type === 'COMPOSITE' && value === actual?.replace(/-\d+$/, ''))
    if (!isSame) throw s3Error('BadDigest', `the ${algorithm} that you sent is not that of the parts`)
  }
}

export function checksumElements(file: Announced, checksum: string | null): Record<string, string> {
  const announced = announcedOf(file)
  return announced && checksum !== null ? { [`Checksum${NAMES[announced.algorithm]}`]: checksum } : {}
}

export function checksumHeaders(checksums: Checksums): Record<string, string> {
  return Object.fromEntries(Object.entries(checksums).map(([name, value]) => [`x-amz-checksum-${name}`, value]))
}

export function announcedElements(file: Announced): Record<string, string> {
  const announced = announcedOf(file)
  return announced ? { ChecksumAlgorithm: NAMES[announced.algorithm], ChecksumType: announced.type } : {}
}

/** The element of a part in CompleteMultipartUpload. */
export function checksumElementName(algorithm: ChecksumAlgorithm): string {
  return `Checksum${NAMES[algorithm]}`
}
