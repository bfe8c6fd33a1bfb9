import { writeXml } from '@svc/s3/xml'
import { Bytes } from '@svc/service/http/answer'

type XmlValue = Parameters<typeof writeXml>[1]

export function xmlAnswer(status: number, root: string, value: XmlValue, headers: Record<string, string> = {}): Bytes {
  const xml = writeXml(root, value)
  return new Bytes(status, { ...xmlHeaders(xml), ...headers }, xml)
}

export function emptyAnswer(status: number, headers: Record<string, string> = {}): Bytes {
  return new Bytes(status, { ...(status !== 204 && { 'content-length': '0' }), ...headers }, null)
}

export function xmlHeaders(xml: string): Record<string, string> {
  return { 'content-type': XML_TYPE, 'content-length': String(Buffer.byteLength(xml)) }
}

export const XML_TYPE = 'application/xml'
