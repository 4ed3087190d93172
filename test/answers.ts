// Expected responses of the service.

export const answerOf = <B>({ status, body }: { status: number; body: B }) => ({ status, body });
export const granted = (data: unknown) => ({ status: 200, body: { status: true, data } });
export const UNAUTHENTICATED = { status: 401, body: { message: 'Unauthenticated.' } };
export const refused = (message: string) => ({ status: 403, body: { status: false, message } });
export const invalid = (field: string, message: string) => ({
  status: 422,
  body: { status: false, message, errors: { [field]: [message] } },
});
export const SERVER_ERROR = { status: 500, body: { message: 'Server Error' } };
export const UNAVAILABLE = { status: 503, body: { message: 'Service Unavailable' } };
