// libcurl, as the system installs it. Variadic calls are in CCurlShims.
#include <curl/curl.h>
