import * as info from '@svc/api/info'
import { openShare } from '@svc/api/shares'
import { Bytes } from '@svc/service/http/answer'
import { routerPath } from '@svc/service/http/router'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import type { DeclaredPage } from '../../pages/built-pages.ts'
import { discoveryDocument } from '../discovery.ts'
import { notIndexed, redirectToShared } from '../shares/visit-share.ts'
import { assetAnswer, downloadAnswer, prefersHtml, showPage, textAnswer } from './answers.ts'

export function pageRoutes(service: Service, context: Context): void {
  const { pages } = context
  const storageOrigins = () => redirectOrigins(context)
  const show = pages && showPage(pages.html, { storageOrigins })
  const savedCopy = pages?.savedCopy ?? null
  const index = () => discoveryDocument(context, savedCopy)
  serve(service, info.discovery, index)
  serve(service, info.home, ({ wire }) => (show && prefersHtml(wire.headers.accept) ? show(wire) : index()))
  serve(service, info.docs, ({ wire }) => show?.(wire) ?? WITHOUT_PAGES)
  const sharePage = pages?.pages.find(({ path }) => path === openShare.path)
  const showShared = pages && sharePage && showPage(pages.html, policyOf(sharePage, storageOrigins))
  serve(service, openShare, ({ params, wire }) =>
    showShared && prefersHtml(wire.headers.accept)
      ? notIndexed(showShared(wire))
      : redirectToShared(context, params.share_id),
  )
  if (!show) return
  const declared: readonly string[] = [info.home.path, info.docs.path, openShare.path]
  for (const page of pages.pages)
    if (!declared.includes(page.path)) add(service, page.path, showPage(pages.html, policyOf(page, storageOrigins)))
  // The address of earlier releases, whose pages may still be built.
  if (!pages.pages.some(({ path }) => path === '/operator'))
    add(service, '/operator', () => new Bytes(308, { location: `${context.config.http.baseUrl}/admin` }, null))
  if (savedCopy) {
    add(service, '/verify.html', (wire) => downloadAnswer(savedCopy.asset, 'verify.html', wire))
    add(service, '/verify.html.sha256', (wire) => textAnswer(`${savedCopy.sha256}  verify.html\n`, wire))
  }
  add(service, '/assets/{name}', (wire, { name = '' }) => {
    const asset = pages.assets.get(name)
    if (!asset) throw new ServiceError('not_found', 'this page has no such file')
    return assetAnswer(asset, wire)
  })
}

function policyOf({ policy }: DeclaredPage, storageOrigins: () => readonly string[]) {
  return { ...(policy && { different: policy }), storageOrigins }
}

/** The origins that clients send bytes to and fetch them from directly (SHORT-09). */
function redirectOrigins({ config, providers }: Context): string[] {
  const origins = Object.keys(config.storage.drivers).flatMap((name) => providers.named(name).redirectsTo ?? [])
  return [...new Set(origins)]
}

const WITHOUT_PAGES =
  '<!doctype html><html lang="en"><title>API</title><p>The pages of this gateway are not built. Its interface is described in <a href="openapi.json">openapi.json</a>.'

type Show = (wire: WireRequest, params: Readonly<Record<string, string>>) => Bytes

/** Pages and their assets are not part of the interface, so they are not declared with it. */
function add(service: Service, path: string, show: Show): void {
  const route = routerPath(path)
  service.add({
    method: 'GET',
    path,
    maxBodyBytes: null,
    handle: (request) => service.sendBytes(request, route, show(request, request.params)),
  })
}
