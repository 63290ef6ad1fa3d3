// Names that adapters take from SDKs. The SDKs are not installed here, so that `npm install` stays small: test/adapters
// checks each adapter against the real types.

declare module 'ai' {
  export type LanguageModelMiddleware = object
  export type ToolSet = Readonly<
    Record<string, { readonly execute?: (input: never, options: never) => unknown }>
  >
}
