/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/*
 * load: sends a list of requests to a Kubernetes API server as fast as it takes them, a fixed
 * number in flight over HTTP/2. It decides nothing, so its rate is what the server can give to any
 * client.
 *
 *   load --server URL --cacert FILE --token-file FILE [--in-flight N] [--connections N] < REQUESTS
 *
 * A request is one line: METHOD PATH BODY, where BODY is JSON on one line. Prints one JSON object
 * when all are answered. Exit status: 0 all succeeded, 1 some failed (the first few are shown on
 * stderr), 2 bad usage or no connection.
 */

#include <curl/curl.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define IN_FLIGHT_MAX  4096
#define FAILURES_SHOWN 5

struct request {
    char *method; /* the line itself, cut into three strings */
    char *path;
    char *body;
};

struct slot {
    CURL *easy;
    const struct request *request;
    char *url;
    char answer[400]; /* the beginning of it, for messages */
    size_t answer_bytes;
};

struct load {
    const char *server;
    const char *cacert;
    const char *token_file;
    long in_flight;
    long connections;

    struct curl_slist *headers;
    CURLM *multi;
    struct slot *slots;

    struct request *requests;
    size_t n_requests;
    size_t n_sent;
    size_t n_answered;
    size_t n_failed;
    double *latencies_ms; /* one for each answered request */
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "load: %s: %s\n", what, why);
    exit(2);
}

static void *checked(void *memory)
{
    if (!memory)
        die("memory", strerror(ENOMEM));
    return memory;
}

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static long parse_count(const char *text, long max)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end || value < 1 || value > max)
        die("not a usable number", text);
    return value;
}

static void parse_options(struct load *load, int argc, char **argv)
{
    static const struct option options[] = {
        {"server", required_argument, NULL, 's'},      {"cacert", required_argument, NULL, 'a'},
        {"token-file", required_argument, NULL, 't'},  {"in-flight", required_argument, NULL, 'n'},
        {"connections", required_argument, NULL, 'c'}, {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 's':
            load->server = optarg;
            break;
        case 'a':
            load->cacert = optarg;
            break;
        case 't':
            load->token_file = optarg;
            break;
        case 'n':
            load->in_flight = parse_count(optarg, IN_FLIGHT_MAX);
            break;
        case 'c':
            load->connections = parse_count(optarg, IN_FLIGHT_MAX);
            break;
        default:
            exit(2);
        }
    }
    if (!load->server || !load->cacert || !load->token_file || optind != argc)
        die("usage", "load --server URL --cacert FILE --token-file FILE [--in-flight N] "
                     "[--connections N] < REQUESTS");
}

/* Takes the line over. */
static struct request parse_request(char *line)
{
    struct request request = {.method = line};

    line[strcspn(line, "\n")] = '\0';
    request.path = strchr(line, ' ');
    request.body = request.path ? strchr(request.path + 1, ' ') : NULL;
    if (!request.body)
        die("not METHOD PATH BODY", line);
    *request.path++ = '\0';
    *request.body++ = '\0';
    return request;
}

static void read_requests(struct load *load)
{
    size_t capacity = 0;
    size_t line_bytes = 0;
    char *line = NULL;

    while (getline(&line, &line_bytes, stdin) > 0) {
        if (load->n_requests == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            load->requests = checked(realloc(load->requests, capacity * sizeof(*load->requests)));
        }
        load->requests[load->n_requests++] = parse_request(line);
        line = NULL;
    }
    free(line);
    if (!load->n_requests)
        die("standard input", "no requests");
    load->latencies_ms = checked(calloc(load->n_requests, sizeof(*load->latencies_ms)));
}

static struct curl_slist *make_headers(const char *token_file)
{
    char token[4096];
    char header[sizeof(token) + 32];
    FILE *file = fopen(token_file, "re");
    struct curl_slist *headers;

    if (!file || !fgets(token, sizeof(token), file))
        die(token_file, errno ? strerror(errno) : "empty");
    fclose(file);
    token[strcspn(token, "\r\n")] = '\0';
    snprintf(header, sizeof(header), "Authorization: Bearer %s", token);
    headers = checked(curl_slist_append(NULL, header));
    headers = checked(curl_slist_append(headers, "Content-Type: application/json"));
    return checked(curl_slist_append(headers, "Accept: application/json"));
}

static size_t keep_answer(char *data, size_t size, size_t count, void *context)
{
    struct slot *slot = context;
    size_t bytes = size * count;
    size_t room = sizeof(slot->answer) - 1 - slot->answer_bytes;
    size_t kept = bytes < room ? bytes : room;

    memcpy(slot->answer + slot->answer_bytes, data, kept);
    slot->answer_bytes += kept;
    slot->answer[slot->answer_bytes] = '\0';
    return bytes;
}

static void init_slot(struct slot *slot, const struct load *load)
{
    CURL *easy = checked(curl_easy_init());

    curl_easy_setopt(easy, CURLOPT_CAINFO, load->cacert);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, load->headers);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    slot->easy = easy;
}

static void send_next(struct load *load, struct slot *slot)
{
    const struct request *request = &load->requests[load->n_sent++];
    size_t url_bytes = strlen(load->server) + strlen(request->path) + 1;

    slot->request = request;
    slot->answer_bytes = 0;
    slot->answer[0] = '\0';
    slot->url = checked(realloc(slot->url, url_bytes));
    snprintf(slot->url, url_bytes, "%s%s", load->server, request->path);
    curl_easy_setopt(slot->easy, CURLOPT_URL, slot->url);
    curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(request->body));
    curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDS, request->body);
    curl_easy_setopt(slot->easy, CURLOPT_CUSTOMREQUEST, request->method);
    if (curl_multi_add_handle(load->multi, slot->easy) != CURLM_OK)
        die(request->path, "cannot be sent");
}

static void take_answer(struct load *load, struct slot *slot, CURLcode result)
{
    curl_off_t total_us = 0;
    long code = 0;

    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(slot->easy, CURLINFO_TOTAL_TIME_T, &total_us);
    load->latencies_ms[load->n_answered++] = (double)total_us / 1000;
    if (result == CURLE_OK && code < 300)
        return;
    slot->answer[strcspn(slot->answer, "\n")] = '\0';
    if (load->n_failed++ < FAILURES_SHOWN)
        fprintf(stderr, "load: %s %s: %ld %s\n", slot->request->method, slot->request->path, code,
                result == CURLE_OK ? slot->answer : curl_easy_strerror(result));
}

static void take_answers(struct load *load)
{
    CURLMsg *message;
    int n_left;

    while ((message = curl_multi_info_read(load->multi, &n_left))) {
        /* Removing the handle frees the message. */
        CURLcode result = message->data.result;
        CURL *easy = message->easy_handle;
        struct slot *slot;

        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
        take_answer(load, slot, result);
        curl_multi_remove_handle(load->multi, easy);
        if (load->n_sent < load->n_requests)
            send_next(load, slot);
    }
}

static void send_all(struct load *load)
{
    int n_running;

    for (long i = 0; i < load->in_flight && load->n_sent < load->n_requests; i++)
        send_next(load, &load->slots[i]);
    while (load->n_answered < load->n_requests) {
        if (curl_multi_perform(load->multi, &n_running) != CURLM_OK)
            die(load->server, "sending failed");
        take_answers(load);
        if (n_running)
            curl_multi_poll(load->multi, NULL, 0, 1000, NULL);
    }
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return (a > b) - (a < b);
}

static void report(const struct load *load, double seconds)
{
    size_t n = load->n_answered;

    qsort(load->latencies_ms, n, sizeof(*load->latencies_ms), compare_doubles);
    printf("{\"requests\": %zu, \"failed\": %zu, \"seconds\": %.3f, \"perSecond\": %.0f, "
           "\"p50Ms\": %.1f, \"p99Ms\": %.1f}\n",
           n, load->n_failed, seconds, (double)n / seconds, load->latencies_ms[n / 2],
           load->latencies_ms[n * 99 / 100]);
}

int main(int argc, char **argv)
{
    struct load load = {.in_flight = 64, .connections = 1};
    double start;

    parse_options(&load, argc, argv);
    read_requests(&load);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        die("libcurl", "cannot be initialised");
    load.headers = make_headers(load.token_file);
    load.multi = checked(curl_multi_init());
    curl_multi_setopt(load.multi, CURLMOPT_MAX_HOST_CONNECTIONS, load.connections);
    curl_multi_setopt(load.multi, CURLMOPT_MAX_CONCURRENT_STREAMS,
                      (load.in_flight + load.connections - 1) / load.connections);
    load.slots = checked(calloc((size_t)load.in_flight, sizeof(*load.slots)));
    for (long i = 0; i < load.in_flight; i++)
        init_slot(&load.slots[i], &load);

    start = now_s();
    send_all(&load);
    report(&load, now_s() - start);

    for (long i = 0; i < load.in_flight; i++) {
        curl_easy_cleanup(load.slots[i].easy);
        free(load.slots[i].url);
    }
    for (size_t i = 0; i < load.n_requests; i++)
        free(load.requests[i].method);
    free(load.requests);
    free(load.slots);
    free(load.latencies_ms);
    curl_multi_cleanup(load.multi);
    curl_slist_free_all(load.headers);
    curl_global_cleanup();
    return load.n_failed ? 1 : 0;
}
